"""Makes one graph of what the chunks gave: entities by name, relations by the pair of their ends.

It is made anew from the extractions of all chunks. So what a page gave is gone with the page: from the
descriptions, weights and keywords of entities and relations that other pages share too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from server.domain.chunk import Chunk
from server.domain.derived import Monitor
from server.domain.titles import plain_heading, plain_title
from server.retrieval.graph.extraction import Extraction, Relation
from server.retrieval.graph.limits import Limits, kept_entities, kept_relations
from server.retrieval.graph.phrases import phrase_key

MOST_SOURCES = 200
"""Chunks that an entity or relation names as its own."""
MOST_KEYWORDS = 12
"""Of a relation; the most frequent ones."""
STEP = 500

Pair = tuple[str, str]


@dataclass
class Node:
    """An entity of the site."""

    key: str
    names: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    fragments: dict[str, None] = field(default_factory=dict)
    """What chunks say of it, each once, in their order."""
    sources: dict[str, int] = field(default_factory=dict)
    """Chunk id -> place in the order of telling: where it is the title comes first."""
    language: str = ""

    @property
    def name(self) -> str:
        """As it is mostly written; the first of equals."""
        return _most(self.names)

    @property
    def type(self) -> str:
        """By majority."""
        return _most(self.types)


@dataclass
class Edge:
    """A relation of the site; it has no direction, its ends are in the order that it was met in first."""

    ends: Pair
    weight: float = 0.0
    keywords: Counter[str] = field(default_factory=Counter)
    fragments: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    language: str = ""

    @property
    def told_keywords(self) -> list[str]:
        """The most frequent first."""
        return [word for word, _ in self.keywords.most_common(MOST_KEYWORDS)]


@dataclass(frozen=True)
class Merged:
    """Entities by key, and relations by weight."""

    nodes: dict[str, Node]
    edges: list[Edge]


def merged(
    chunks: Sequence[Chunk], extractions: Sequence[Extraction], limits: Limits, monitor: Monitor
) -> Merged:
    """The graph of these chunks, within the limits. Raises BuildStopped."""
    keys = _Keys()
    titled = _titled(chunks, keys)
    found_in = _found_in(extractions, keys, monitor)
    kept = kept_entities(found_in, titled, limits)
    pairs = kept_relations(_pairs(extractions, keys, kept, monitor), limits)
    nodes = {key: Node(key) for key in sorted(kept)}
    edges = {pair: Edge(pair) for pair in pairs}
    for n, (chunk, extraction) in enumerate(zip(chunks, extractions, strict=True)):
        if n % STEP == 0:
            monitor.step("merging", n, len(chunks))
        _add_entities(nodes, chunk, extraction, keys)
        _add_relations(edges, chunk, extraction, keys)
    return Merged({key: node for key, node in nodes.items() if node.names}, list(edges.values()))


class _Keys:
    """The key of a name, worked out once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Equal for names that differ in case or spacing only."""
        key = self._known.get(name)
        if key is None:
            key = self._known[name] = phrase_key(name)
        return key

    def pair(self, relation: Relation) -> Pair | None:
        """In alphabetical order; None for a relation of something to itself, or to nothing."""
        one, other = self.of(relation.source), self.of(relation.target)
        if not one or not other or one == other:
            return None
        return (one, other) if one < other else (other, one)


def _titled(chunks: Sequence[Chunk], keys: _Keys) -> set[str]:
    heads = {plain_title(chunk.title) for chunk in chunks}
    heads |= {plain_heading(heading) for chunk in chunks for heading in chunk.heading_path}
    return {keys.of(head) for head in heads}


def _found_in(extractions: Sequence[Extraction], keys: _Keys, monitor: Monitor) -> Counter[str]:
    """Key of an entity -> in how many chunks it occurs."""
    found: Counter[str] = Counter()
    for n, extraction in enumerate(extractions):
        if n % STEP == 0:
            monitor.step("entities", n, len(extractions))
        found.update({keys.of(entity.name) for entity in extraction.entities})
    del found[""]
    return found


def _pairs(
    extractions: Sequence[Extraction], keys: _Keys, kept: set[str], monitor: Monitor
) -> list[dict[Pair, float]]:
    """Of each chunk, the relations between entities that are kept, with their weights."""
    found = []
    for n, extraction in enumerate(extractions):
        if n % STEP == 0:
            monitor.step("relations", n, len(extractions))
        of_chunk: dict[Pair, float] = {}
        for relation in extraction.relations:
            pair = keys.pair(relation)
            if pair and pair[0] in kept and pair[1] in kept:
                of_chunk[pair] = of_chunk.get(pair, 0.0) + relation.weight
        found.append(of_chunk)
    return found


def _add_entities(nodes: dict[str, Node], chunk: Chunk, extraction: Extraction, keys: _Keys) -> None:
    heads = {keys.of(plain_title(chunk.title)), *(keys.of(plain_heading(one)) for one in chunk.heading_path)}
    for entity in extraction.entities:
        key = keys.of(entity.name)
        node = nodes.get(key)
        if node is None:
            continue
        node.names[entity.name] += 1
        if entity.type:
            node.types[entity.type] += 1
        node.language = node.language or chunk.language
        if len(node.sources) < MOST_SOURCES or chunk.id in node.sources:
            node.sources.setdefault(chunk.id, 0 if key in heads else 1)
            if entity.description:
                node.fragments.setdefault(entity.description)


def _add_relations(edges: dict[Pair, Edge], chunk: Chunk, extraction: Extraction, keys: _Keys) -> None:
    for relation in extraction.relations:
        pair = keys.pair(relation)
        edge = edges.get(pair) if pair else None
        if edge is None:
            continue
        if not edge.sources:
            edge.ends = (keys.of(relation.source), keys.of(relation.target))
            edge.language = chunk.language
        edge.weight += relation.weight
        if len(edge.sources) < MOST_SOURCES or chunk.id in edge.sources:
            edge.sources.setdefault(chunk.id)
            edge.keywords.update(relation.keywords)
            if relation.description:
                edge.fragments.setdefault(relation.description)


def _most(counted: Counter[str]) -> str:
    return min(counted, key=lambda value: (-counted[value], value), default="")
