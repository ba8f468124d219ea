"""The tree that a site has already: sections of addresses or breadcrumbs, pages, headings, chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import unquote, urlsplit

import numpy as np

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.retrieval.published.raptor.clusters import Clustering
from server.retrieval.published.raptor.tree import Forest, NodeGroup

_NAME_PART = re.compile(r"[-_.]+")
_INDEX = re.compile(r"(?:index|default|readme|home)(?:\.\w+)?", re.I)
_ENDING = re.compile(r"\.\w{1,5}$")
TITLE = 20
"""Tokens of a title, about."""


@dataclass
class Branch:
    """A section, a page or a part of a page."""

    title: str = ""
    url: str = ""
    children: list[Branch | int] = field(default_factory=list)
    """An int is the number of a chunk."""
    number: int = -1
    """Among the forest's nodes, once it is one."""

    @property
    def height(self) -> int:
        return 1 + max((child.height for child in self.children if isinstance(child, Branch)), default=0)


@dataclass(frozen=True)
class TreeGrouping:
    """Every layer holds the branches of one height. Implements Grouping."""

    chunks: Sequence[Chunk]
    facts: Callable[[str], PageFacts]
    clustering: Clustering
    summary_tokens: int
    _layers: dict[int, list[Branch]] = field(default_factory=dict)

    def layer(self, number: int, forest: Forest) -> list[NodeGroup]:
        """[] above the root."""
        if number == 1:
            self._plan(forest)
        branches = self._layers.get(number, [])
        for at, branch in enumerate(branches, len(forest.nodes)):
            branch.number = at
        return [
            NodeGroup(
                tuple(child.number if isinstance(child, Branch) else child for child in branch.children),
                branch.title,
                branch.url,
            )
            for branch in branches
        ]

    def _plan(self, forest: Forest) -> None:
        root = SiteSection()
        numbered = enumerate(self.chunks)
        for url, of_page in groupby(numbered, key=lambda pair: pair[1].url):
            root.put(self._way(url), self._page(url, [number for number, _ in of_page], forest))
        self._collect(self._branch(root, forest))

    def _collect(self, branch: Branch | int) -> None:
        if isinstance(branch, Branch):
            for child in branch.children:
                self._collect(child)
            self._layers.setdefault(branch.height, []).append(branch)

    def _way(self, url: str) -> tuple[str, ...]:
        """Names of the sections above a page, and its own."""
        above = self.facts(url).breadcrumbs
        parts = [unquote(part) for part in urlsplit(url).path.split("/") if part]
        if parts and _INDEX.fullmatch(parts[-1]):
            parts.pop()
        return (*above, parts[-1] if parts else "") if above else tuple(parts)

    def _page(self, url: str, numbers: list[int], forest: Forest) -> Branch | int:
        """The page, with parts between it and its chunks where it is long; its chunk where it is only one."""
        if len(numbers) == 1:
            return numbers[0]
        title = self.chunks[numbers[0]].title
        limit = self.clustering.most_tokens
        if sum(forest.nodes[number].tokens for number in numbers) <= limit:
            return Branch(title, url, list(numbers))
        parts: list[Branch | int] = []
        for of_part in self._parts(numbers, forest):
            name = " › ".join(_shared([self.chunks[number].heading_path for number in of_part]))
            parts.append(Branch(name or title, url, list(of_part)) if len(of_part) > 1 else of_part[0])
        return Branch(title, url, parts)

    def _parts(self, numbers: Sequence[int], forest: Forest) -> Iterator[list[int]]:
        """Runs of chunks no longer than a cluster may be, which end where a heading does if possible."""
        limit = self.clustering.most_tokens
        part: list[int] = []
        size = 0
        for _, of_heading in groupby(numbers, key=lambda number: self.chunks[number].heading_path):
            run = list(of_heading)
            whole = sum(forest.nodes[number].tokens for number in run)
            if part and size + whole > limit:
                yield part
                part, size = [], 0
            for number in run:
                tokens = forest.nodes[number].tokens
                if part and size + tokens > limit:
                    yield part
                    part, size = [], 0
                part, size = [*part, number], size + tokens
        yield part

    def _branch(self, section: SiteSection, forest: Forest) -> Branch | int:
        """The section as a branch; what has but one child is that child."""
        section.take_in_indexes()
        named = [*section.pages]
        named += [(name, self._branch(below, forest)) for name, below in sorted(section.below.items())]
        children = [child for _, child in named]
        if len(children) == 1:
            return children[0]
        if self._size(children, forest) > self.clustering.most_tokens:
            children = self._by_word(named, forest)
        return Branch(self._title(section), "", self._fitting(children, forest))

    def _by_word(self, named: Sequence[tuple[str, Branch | int]], forest: Forest) -> list[Branch | int]:
        """Return those with the same first word in their names under one branch: sql-insert, sql-select."""
        of_word: dict[str, list[Branch | int]] = {}
        for name, child in named:
            word = _NAME_PART.split(_ENDING.sub("", name))[0].lower()
            of_word.setdefault(word, []).append(child)
        found: list[Branch | int] = []
        for word, children in sorted(of_word.items()):
            if word and 1 < len(children) < len(named):
                found.append(Branch(word, "", self._fitting(children, forest)))
            else:
                found += children
        return found

    def _title(self, section: SiteSection) -> str:
        index = next((page for name, page in section.pages if not name), None)
        if index is None:
            return section.name
        return self.chunks[_leaves(index)[0]].title or section.name

    def _fitting(self, children: Sequence[Branch | int], forest: Forest) -> list[Branch | int]:
        """These, under further branches of what is alike where they are too many for one summary."""
        kept = list(children)
        while self._size(kept, forest) > self.clustering.most_tokens:
            centres = np.stack([forest.centre(_leaves(child)) for child in kept])
            lengths = [self._tokens(child, forest) for child in kept]
            parts = self.clustering.halved(centres, lengths)
            if len(parts) >= len(kept):
                break
            together = [[kept[int(place)] for place in part] for part in parts]
            kept = [Branch("", "", part) if len(part) > 1 else part[0] for part in together]
        return kept

    def _size(self, children: Sequence[Branch | int], forest: Forest) -> int:
        return sum(self._tokens(child, forest) for child in children)

    def _tokens(self, child: Branch | int, forest: Forest) -> int:
        return self.summary_tokens + TITLE if isinstance(child, Branch) else forest.nodes[child].tokens


class SiteSection:
    """Pages and sections by the names in their addresses."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.pages: list[tuple[str, Branch | int]] = []
        """With their names; that of the section's own page is empty."""
        self.below: dict[str, SiteSection] = {}

    def put(self, way: Sequence[str], page: Branch | int) -> None:
        """Files a page under the sections above it; the last name of `way` is its own."""
        if len(way) < 2:
            self.pages.append((way[0] if way else "", page))
        else:
            self.below.setdefault(way[0], SiteSection(way[0])).put(way[1:], page)

    def take_in_indexes(self) -> None:
        """A page that is called as a section is stands in that section: guide.html, guide/install.html."""
        for name, page in [*self.pages]:
            section = self.below.get(_ENDING.sub("", name))
            if section is not None:
                self.pages.remove((name, page))
                section.pages.insert(0, ("", page))


def _leaves(child: Branch | int) -> list[int]:
    """Numbers of all chunks below; a chunk's own."""
    if isinstance(child, int):
        return [child]
    return [leaf for below in child.children for leaf in _leaves(below)]


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """How all of these begin."""
    first, last = min(paths), max(paths)
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[: min(len(first), len(last)) if same is None else same]
