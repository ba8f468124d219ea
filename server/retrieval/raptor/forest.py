"""The nodes of a tree while it grows: chunks first, then summaries layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from server.domain.chunk import Chunk
from server.domain.derived import Record, record_id
from server.retrieval.derived.asking import Task
from server.retrieval.derived.kit import Kit
from server.retrieval.raptor.options import KIND
from server.retrieval.raptor.reduction import Vectors
from server.retrieval.summaries import extract, summary_task
from server.retrieval.terms import DocumentFrequencies, key_terms

TERMS = 6
"""Key terms in the title of a cluster that has none of its own."""
COMMON = 0.6
"""A title that so many of its texts share is that of a cluster."""
AT_ONCE = 200
"""Summaries between two looks at whether the build is still wanted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that get one summary."""

    members: tuple[int, ...]
    title: str = ""
    """Empty where nothing names them together; then their key terms do."""
    url: str = ""
    """The page that they are, if it is one."""


@dataclass(frozen=True, slots=True)
class Node:
    """A chunk or a summary."""

    id: str
    title: str
    text: str
    """Without the title."""
    language: str
    tokens: int
    leaves: tuple[int, ...]
    """Numbers of the chunks below it; its own for a chunk."""


class Grouping(Protocol):
    """Says which nodes belong together."""

    def layer(self, number: int, forest: Forest) -> list[Group]:
        """The groups of layer `number`, from 1; [] when the tree is done. They become nodes in this order."""


class Forest:
    """Nodes by number: those of the chunks are 0, 1, 2 … in the order of the site."""

    def __init__(self, kit: Kit, summary_tokens: int, known: Mapping[str, Record] | None = None) -> None:
        """`known` are records of a state before by what they summarise: they are not worked out again."""
        self._kit = kit
        self._tokens = summary_tokens
        self._known = known or {}
        self.nodes = [_leaf(number, chunk, kit) for number, chunk in enumerate(kit.chunks)]
        self.vectors: Vectors = kit.chunk_vectors(kit.chunks)
        self.leaves = len(self.nodes)
        self.records: list[Record] = []
        self.frontier = list(range(self.leaves))
        """Nodes that the next layer is made of."""

    @cached_property
    def frequencies(self) -> DocumentFrequencies:
        """How many chunks have each token."""
        return DocumentFrequencies.of(self._kit.chunks)

    @cached_property
    def number_of_leaf(self) -> dict[str, int]:
        """By chunk id."""
        return {node.id: number for number, node in enumerate(self.nodes[: self.leaves])}

    def centre(self, leaves: Iterable[int]) -> Vectors:
        """Mean of the vectors of these chunks, of length 1."""
        mean = self.vectors[list(leaves)].mean(axis=0)
        length = float(np.linalg.norm(mean))
        centre: Vectors = mean / length if length else mean
        return centre

    def grow(self, layer: int, groups: Sequence[Group]) -> None:
        """Adds a node for each group, with its summary and vector. Raises ModelError, BuildStopped."""
        tasks, titles = [], []
        for done, group in enumerate(groups):
            if done % AT_ONCE == 0:
                self._kit.monitor.step(f"layer {layer}", done, len(groups))
            titles.append(self._title(group))
            tasks.append(self._task(group))
        summaries = self._asked(layer, tasks)
        records = [
            self._record(layer, group, title, summary)
            for group, title, summary in zip(groups, titles, summaries, strict=True)
        ]
        own = self._kit.vectors(KIND, records)
        if self._kit.asking.trial:
            # Nothing is embedded then: the middle of the chunks stands for the summary.
            own = np.stack([self.centre(self._leaves(group)) for group in groups])
        self.vectors = np.concatenate([self.vectors, own])
        for group, record in zip(groups, records, strict=True):
            self.nodes.append(self._node(group, record))
        self.records += records

    def _asked(self, layer: int, tasks: Sequence[Task[str]]) -> list[str]:
        if self._kit.asking.model is not None:
            return self._kit.asking.all("summaries", tasks)
        made: list[str] = []
        for start in range(0, len(tasks), AT_ONCE):
            self._kit.monitor.step(f"summaries, layer {layer}", start, len(tasks))
            made += self._kit.asking.all("summaries", tasks[start : start + AT_ONCE])
        return made

    def _title(self, group: Group) -> str:
        if group.title:
            return group.title
        known = self._known.get(self._content(group))
        if known is not None:
            return known.title
        members = [self.nodes[number] for number in group.members]
        title, times = Counter(node.title for node in members).most_common(1)[0]
        if title and times >= COMMON * len(members):
            return title
        return ", ".join(
            key_terms([node.text for node in members], self.frequencies, TERMS, _language(members))
        )

    def _task(self, group: Group) -> Task[str]:
        members = [self.nodes[number] for number in group.members]
        known, language = self._known.get(self._content(group)), _language(members)
        twin = partial(extract, [node.text for node in members], self._tokens, language)
        if known is not None:
            twin = partial(_summary_of, known)
        texts = [f"{node.title}\n{node.text}" if node.title else node.text for node in members]
        return summary_task(texts, group.title, self._tokens, language, twin)

    def _content(self, group: Group) -> str:
        return record_id(
            *sorted(self.nodes[number].id + self.nodes[number].title for number in group.members)
        )

    def _leaves(self, group: Group) -> list[int]:
        """Nearest to the middle first."""
        below = sorted({leaf for number in group.members for leaf in self.nodes[number].leaves})
        near = (self.vectors[below] @ self.centre(below)).round(6)
        return [below[place] for place in np.argsort(-near, kind="stable")]

    def _record(self, layer: int, group: Group, title: str, summary: str) -> Record:
        children = [self.nodes[number].id for number in group.members]
        sources = tuple(self.nodes[leaf].id for leaf in self._leaves(group))
        text = f"{title}\n{summary}" if title else summary
        language = _language([self.nodes[number] for number in group.members])
        data = {"layer": layer, "children": children, "content": self._content(group)}
        return Record(record_id(text, *sorted(children)), text, sources, group.url, title, language, data)

    def _node(self, group: Group, record: Record) -> Node:
        text, leaves = _summary_of(record), tuple(sorted(self._leaves(group)))
        tokens = self._kit.asking.estimate(record.text)
        return Node(record.id, record.title, text, record.language, tokens, leaves)


def by_content(records: Iterable[Record]) -> dict[str, Record]:
    """Records of a tree by what they summarise."""
    return {str(record.data["content"]): record for record in records}


def _leaf(number: int, chunk: Chunk, kit: Kit) -> Node:
    tokens = kit.asking.estimate(chunk.text)
    return Node(chunk.id, chunk.heading, chunk.text, chunk.language, tokens, (number,))


def _summary_of(record: Record) -> str:
    return record.text.removeprefix(f"{record.title}\n") if record.title else record.text


def _language(nodes: Sequence[Node]) -> str:
    return Counter(node.language for node in nodes).most_common(1)[0][0]
