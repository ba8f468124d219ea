"""One graph of what many chunks say: entities of one name become one, and so do relations of one pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from server.domain.chunk import Chunk
from server.domain.sentences import split_sentences
from server.retrieval.derived.kit import Kit
from server.retrieval.graph.extracted import Extraction
from server.retrieval.graph.phrases import phrase_key
from server.retrieval.summaries import summary_task

KIND = "descriptions"
MOST_TOKENS = 500
"""Of a merged description."""
BEST_SENTENCES = 3
MOST_SOURCES = 200
"""Chunks that an entity or relation names."""


@dataclass(slots=True)
class Node:
    """An entity, by the key of its name."""

    key: str
    names: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    said: dict[str, None] = field(default_factory=dict)
    """What each chunk says of it, each once."""
    sources: dict[str, None] = field(default_factory=dict)
    """Ids of chunks, in page order."""
    description: str = ""
    language: str = ""

    @property
    def name(self) -> str:
        """As it is mostly written."""
        return self.names.most_common(1)[0][0]

    @property
    def type(self) -> str:
        """By majority; "" where none is told."""
        known = [(times, name) for name, times in self.types.items() if name]
        return max(known, key=lambda one: one[0])[1] if known else ""


@dataclass(slots=True)
class Edge:
    """A relation of two entities, whichever of them comes first; `pair` is in the order of their keys."""

    pair: tuple[str, str]
    weight: float = 0.0
    keywords: Counter[str] = field(default_factory=Counter)
    said: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)
    description: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """Both by key, in the order in which the pages first speak of them."""

    nodes: dict[str, Node]
    edges: dict[tuple[str, str], Edge]


def merged(kit: Kit, chunks: Sequence[Chunk], found: Sequence[Extraction], *, told_from: int = 2) -> Merged:
    """The extractions of these chunks as one graph, with descriptions; a model words those that are made
    of `told_from` and more. Raises ModelError, BuildStopped."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], Edge] = {}
    for number, (chunk, extraction) in enumerate(zip(chunks, found, strict=True)):
        if number % 500 == 0:
            kit.monitor.step("merging", number, len(chunks))
        _add(nodes, edges, chunk, extraction)
    _describe(kit, list(nodes.values()), list(edges.values()), nodes, told_from)
    return Merged(nodes, edges)


def best_sentences(said: Sequence[str], about: Sequence[str], most: int = BEST_SENTENCES) -> str:
    """The sentences that most tell about something: those that name it early and are of some length."""
    sentences = list(dict.fromkeys(one for text in said[:50] for one in split_sentences(text)))
    if len(sentences) <= most:
        return " ".join(sentences)
    names = [name.casefold() for name in about]

    def worth(sentence: str) -> float:
        lowered = sentence.casefold()
        places = [lowered.find(name) for name in names]
        early = sum(1 - place / len(lowered) for place in places if place >= 0)
        return early - abs(min(len(sentence), 400) - 120) / 400

    best = sorted(range(len(sentences)), key=lambda at: (-worth(sentences[at]), at))[:most]
    return " ".join(sentences[at] for at in sorted(best))


def _add(
    nodes: dict[str, Node], edges: dict[tuple[str, str], Edge], chunk: Chunk, extraction: Extraction
) -> None:
    for entity in extraction.entities:
        if key := phrase_key(entity.name):
            node = nodes.setdefault(key, Node(key, language=chunk.language))
            node.names[entity.name] += 1
            node.types[entity.type] += 1
            if entity.description:
                node.said[entity.description] = None
            if len(node.sources) < MOST_SOURCES:
                node.sources[chunk.id] = None
    for relation in extraction.relations:
        one, other = sorted((phrase_key(relation.source), phrase_key(relation.target)))
        if not one or one == other:
            continue
        for name in (relation.source, relation.target):  # a model may relate what it did not list
            node = nodes.setdefault(phrase_key(name), Node(phrase_key(name), language=chunk.language))
            if not node.names:
                node.names[name] += 1
                node.sources[chunk.id] = None
        edge = edges.setdefault((one, other), Edge((one, other), language=chunk.language))
        edge.weight += relation.weight
        edge.keywords.update(relation.keywords)
        if relation.description:
            edge.said[relation.description] = None
        if len(edge.sources) < MOST_SOURCES:
            edge.sources[chunk.id] = None


def _describe(
    kit: Kit, nodes: Sequence[Node], edges: Sequence[Edge], by_key: dict[str, Node], told_from: int
) -> None:
    """Writes the descriptions; those of several texts are asked for all at once."""
    many: list[tuple[Node | Edge, str]] = []
    for number, one in enumerate([*nodes, *edges]):
        if number % 5000 == 0:
            kit.monitor.step("descriptions", number, len(nodes) + len(edges))
        names = [one.name] if isinstance(one, Node) else [by_key[key].name for key in one.pair]
        if len(one.said) < 2:
            one.description = next(iter(one.said), "")
        else:
            one.description = best_sentences(list(one.said), names)
            if kit.asking.model is not None and len(one.said) >= told_from:
                many.append((one, " – ".join(names)))
    tasks = [
        summary_task(list(one.said), title, MOST_TOKENS, one.language, one.description) for one, title in many
    ]
    for (one, _), text in zip(many, kit.asking.all(KIND, tasks), strict=True):
        one.description = text
