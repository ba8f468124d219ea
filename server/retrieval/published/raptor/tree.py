"""The nodes of a tree of summaries while it grows, and which of them belong together.

The chunks are the first nodes; each layer groups the nodes of the one before and summarises every group.
Groups are new clusters, or the clusters of the previous build with what changed since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, cast

import numpy as np

from server.domain.chunk import Chunk
from server.domain.derived import Record, record_id
from server.retrieval.published.derived.asking import ModelTask
from server.retrieval.published.derived.build import Artefact, Kit, batched, watched
from server.retrieval.published.raptor.clusters import ENOUGH, Clustering, Vectors
from server.retrieval.published.raptor.options import KIND
from server.retrieval.published.summaries import DocumentFrequencies, extract, key_terms, summary_task

TERMS = 6
"""Key terms in the title of a cluster that has none of its own."""
COMMON = 0.6
"""A title that so many of its texts share is that of a cluster."""
AT_ONCE = 200
"""Summaries between two looks at whether the build is still wanted."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that get one summary."""

    members: tuple[int, ...]
    title: str = ""
    """Empty where nothing names them together; then their key terms do."""
    url: str = ""
    """The page that they are, if it is one."""


@dataclass(frozen=True, slots=True)
class TreeNode:
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

    def layer(self, number: int, forest: Forest) -> list[NodeGroup]:
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

    def grow(self, layer: int, groups: Sequence[NodeGroup]) -> None:
        """Adds a node for each group, with its summary and vector. Raises ModelError, BuildStopped."""
        tasks, titles = [], []
        for group in watched(self._kit.monitor, f"layer {layer}", groups, AT_ONCE):
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

    def _asked(self, layer: int, tasks: Sequence[ModelTask[str]]) -> list[str]:
        if self._kit.asking.model is not None:
            return self._kit.asking.all("summaries", tasks)
        made: list[str] = []
        for batch in batched(self._kit.monitor, f"summaries, layer {layer}", tasks, AT_ONCE):
            made += self._kit.asking.all("summaries", batch)
        return made

    def _title(self, group: NodeGroup) -> str:
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

    def _task(self, group: NodeGroup) -> ModelTask[str]:
        members = [self.nodes[number] for number in group.members]
        known, language = self._known.get(self._content(group)), _language(members)
        twin = partial(extract, [node.text for node in members], self._tokens, language)
        if known is not None:
            twin = partial(_summary_of, known)
        texts = [f"{node.title}\n{node.text}" if node.title else node.text for node in members]
        return summary_task(texts, group.title, self._tokens, language, twin)

    def _content(self, group: NodeGroup) -> str:
        return record_id(
            *sorted(self.nodes[number].id + self.nodes[number].title for number in group.members)
        )

    def _leaves(self, group: NodeGroup) -> list[int]:
        """Nearest to the middle first."""
        below = sorted({leaf for number in group.members for leaf in self.nodes[number].leaves})
        near = (self.vectors[below] @ self.centre(below)).round(6)
        return [below[place] for place in np.argsort(-near, kind="stable")]

    def _record(self, layer: int, group: NodeGroup, title: str, summary: str) -> Record:
        children = [self.nodes[number].id for number in group.members]
        sources = tuple(self.nodes[leaf].id for leaf in self._leaves(group))
        text = f"{title}\n{summary}" if title else summary
        language = _language([self.nodes[number] for number in group.members])
        data = {"layer": layer, "children": children, "content": self._content(group)}
        return Record(record_id(text, *sorted(children)), text, sources, group.url, title, language, data)

    def _node(self, group: NodeGroup, record: Record) -> TreeNode:
        text, leaves = _summary_of(record), tuple(sorted(self._leaves(group)))
        tokens = self._kit.asking.estimate(record.text)
        return TreeNode(record.id, record.title, text, record.language, tokens, leaves)


def by_content(records: Iterable[Record]) -> dict[str, Record]:
    """Records of a tree by what they summarise."""
    return {str(record.data["content"]): record for record in records}


def _leaf(number: int, chunk: Chunk, kit: Kit) -> TreeNode:
    tokens = kit.asking.estimate(chunk.text)
    return TreeNode(chunk.id, chunk.heading, chunk.text, chunk.language, tokens, (number,))


def _summary_of(record: Record) -> str:
    return record.text.removeprefix(f"{record.title}\n") if record.title else record.text


def _language(nodes: Sequence[TreeNode]) -> str:
    return Counter(node.language for node in nodes).most_common(1)[0][0]


DRIFT = 0.2
"""Once so large a share of the chunks is not the same any more, everything is clustered again."""
LEAST = 200
"""Fewer chunks are always clustered again: it takes a second, and is then as if made fresh."""
LIKE = 10
"""Percentile of the likeness of a cluster's chunks to its middle that a new one must reach to join."""


class FreshGrouping:
    """Clusters each layer's nodes as published. Implements Grouping."""

    def __init__(self, clustering: Clustering) -> None:
        self._clustering = clustering

    def layer(self, number: int, forest: Forest) -> list[NodeGroup]:
        """[] once so few nodes are left that more layers tell nothing, or none would be fewer."""
        frontier = forest.frontier
        if len(frontier) < 2 or (number > 1 and len(frontier) <= ENOUGH):
            return []
        lengths = [forest.nodes[node].tokens for node in frontier]
        found = self._clustering.clusters(forest.vectors[frontier], lengths)
        if len(found) >= len(frontier):
            return []
        made = [NodeGroup(tuple(frontier[place] for place in of)) for of in found if len(of) > 1]
        alone = {frontier[of[0]] for of in found if len(of) == 1} - {
            n for group in made for n in group.members
        }
        # A node that is like no other goes on to the next layer as it is.
        forest.frontier = [*sorted(alone), *range(len(forest.nodes), len(forest.nodes) + len(made))]
        return made


class KeptGrouping:
    """The clusters of the state before, without chunks that are gone, with new ones where they fit, and
    divided where they have become too long. Implements Grouping."""

    def __init__(self, before: Sequence[Record], clustering: Clustering) -> None:
        self._clustering = clustering
        self._of_layer: dict[int, list[Record]] = {}
        for record in before:
            self._of_layer.setdefault(cast(int, record.data["layer"]), []).append(record)
        self._now: dict[str, list[int]] = {}

    def layer(self, number: int, forest: Forest) -> list[NodeGroup]:
        """[] past the last layer of the state before."""
        kept = self._of_layer.get(number, [])
        if number == 1:
            self._now = {id: [leaf] for id, leaf in forest.number_of_leaf.items()}
        children = [cast(Sequence[str], record.data["children"]) for record in kept]
        members = [[now for child in of for now in self._now.get(child, [])] for of in children]
        if number == 1:
            self._join(members, forest)
        groups, following = [], len(forest.nodes)
        for record, of_record in zip(kept, members, strict=True):
            parts = self._parts(sorted(set(of_record)), forest)
            self._now[record.id] = list(range(following, following + len(parts)))
            following += len(parts)
            groups += [NodeGroup(part) for part in parts]
        return groups

    def _parts(self, members: Sequence[int], forest: Forest) -> list[tuple[int, ...]]:
        if not members:
            return []
        lengths = [forest.nodes[node].tokens for node in members]
        parts = self._clustering.divided(np.arange(len(members)), forest.vectors[list(members)], lengths)
        return [tuple(members[int(place)] for place in part) for part in parts]

    def _join(self, clusters: Sequence[list[int]], forest: Forest) -> None:
        """Puts chunks that no record before comes from into the nearest cluster that they are like."""
        old = {id for records in self._of_layer.values() for record in records for id in record.sources}
        new = [leaf for id, leaf in forest.number_of_leaf.items() if id not in old]
        living = [cluster for cluster in clusters if cluster]
        if not new or not living:
            return
        centres = np.stack([forest.centre(cluster) for cluster in living])
        needed = [
            float(np.percentile(forest.vectors[cluster] @ centre, LIKE))
            for cluster, centre in zip(living, centres, strict=True)
        ]
        near = forest.vectors[new] @ centres.T
        for leaf, row in zip(new, near, strict=True):
            best = int(np.argmax(row))
            if row[best] >= needed[best]:
                living[best].append(leaf)


def keepable(before: Artefact | None, leaves: Collection[str]) -> Artefact | None:
    """The state before, if its clusters are still those of most chunks."""
    if before is None or len(leaves) < LEAST:
        return None
    clustered = set(cast(Sequence[str], before.facts.get("clustered", ())))
    changed = len(clustered ^ set(leaves))
    return before if before.records.get(KIND) and changed < DRIFT * len(clustered) else None
