"""The upper tier: pages and sections, and what stands for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts, Record, record_id
from server.retrieval.derived.asking import Task
from server.retrieval.hierarchical.options import HierarchicalOptions
from server.retrieval.summaries import summary_task

DEPTH = 2
"""Headings of a path that make a section; what stands deeper belongs to it."""
HEADINGS = 12
"""Headings at most that a unit is found by beside its summary."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A page, or a section of one."""

    chunks: tuple[Chunk, ...]
    path: tuple[str, ...]
    """Headings that a section stands under; () for a page."""
    description: str = ""
    """What the page says that it is about."""

    @property
    def title(self) -> str:
        """Of the page, and the headings above a section."""
        title = self.chunks[0].title
        return " › ".join(filter(None, (title, *(heading for heading in self.path if heading != title))))

    @property
    def below(self) -> tuple[str, ...]:
        """The first headings inside."""
        known = {self.chunks[0].title, *self.path}
        found = (heading for chunk in self.chunks for heading in chunk.heading_path if heading not in known)
        return tuple(dict.fromkeys(found))[:HEADINGS]

    def task(self, tokens: int) -> Task[str]:
        """Asks for its summary; the twin is the page's own description, or the sentences that say most."""
        texts = [chunk.text for chunk in self.chunks]
        own = partial(str, self.description) if self.description else None
        return summary_task(texts, self.title, tokens, self.chunks[0].language, own)

    def record(self, summary: str) -> Record:
        """What is searched in its place."""
        first = self.chunks[0]
        ids = tuple(chunk.id for chunk in self.chunks)
        id = record_id(first.url, self.title, *self.below, summary, *ids)
        return Record(id, summary, ids, first.url, self.title, first.language, {"below": list(self.below)})


def units(page: Sequence[Chunk], facts: PageFacts, chosen: HierarchicalOptions) -> Iterator[Unit]:
    """Those of one page: the page first, then its sections. A section that is the whole page, or one chunk of
    a page that is summarised, gets no summary of its own."""
    sections = [tuple(group) for _, group in groupby(page, key=lambda chunk: chunk.heading_path[:DEPTH])]
    whole = chosen.units != "sections" or len(sections) == 1
    if whole:
        yield Unit(tuple(page), (), facts.description)
    if chosen.units != "pages" and len(sections) > 1:
        for section in sections:
            if len(section) > 1 or not whole:
                yield Unit(section, section[0].heading_path[:DEPTH])
