"""Merges what the chunks gave into one graph: entities by name, relations by the pair of their ends.

The graph is made again from the extractions of all chunks with each build, so what a page gave is gone
with the page: from the descriptions, weights and keywords of entities and relations that other pages
share too. Limits keep the graph of a large site small, since every entity and relation costs an
embedding.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from server.domain.chunk import Chunk
from server.domain.derived import Monitor
from server.domain.sentences import plain_heading, plain_title, split_sentences
from server.retrieval.published.derived.asking import ModelTasks
from server.retrieval.published.derived.build import watched
from server.retrieval.published.graph.extraction import EntityExtraction, ExtractedRelation
from server.retrieval.published.graph.phrases import phrase_key
from server.retrieval.published.summaries import summary_task

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """How much of a graph is kept."""

    seen_in: int
    """Chunks that an entity must occur in, unless it is a title or heading."""
    entities: int
    relations: int


def kept_entities(found_in: Counter[str], titled: set[str], limits: GraphLimits) -> set[str]:
    """Titles and headings first, then what occurs in most chunks."""
    wanted = [key for key, count in found_in.items() if count >= limits.seen_in or key in titled]
    wanted.sort(key=lambda key: (key not in titled, -found_in[key], key))
    return set(wanted[: limits.entities])


def kept_relations(of_chunks: Sequence[dict[Pair, float]], limits: GraphLimits) -> list[Pair]:
    """The first of every chunk before the second of any: a chunk's own are told apart by their weight on
    the whole site. So no page is without relations because another repeats itself. By weight."""
    weights: Counter[Pair] = Counter()
    for found in of_chunks:
        weights.update(found)
    place: dict[Pair, int] = {}
    for found in of_chunks:
        for n, pair in enumerate(_by_weight(found, weights)):
            place[pair] = min(place.get(pair, n), n)
    first = sorted(weights, key=lambda pair: (place[pair], -weights[pair], pair))[: limits.relations]
    return _by_weight(first, weights)


def _by_weight(pairs: Iterable[Pair], weights: Counter[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: (-weights[pair], pair))


KIND = "descriptions of entities and relations"
MANY = 8
"""So many pieces are summarised,"""
LONG = 1200
"""and pieces of so many tokens together."""
SUMMARY = 500
"""Tokens of a summary at most."""
SENTENCES = 3
"""Sentences of a description that no model made."""
LOOKED_AT = 40
"""Sentences of which those are chosen."""
LONGEST_DESCRIPTION = 400
"""Characters of a description that no model made."""
SEPARATOR = "\n"


Described = tuple[str, Sequence[str], str]
"""Name, pieces in page order, language."""


def described(asking: ModelTasks, found: Sequence[Described], many: int = MANY) -> list[str]:
    """In the same order. A model is asked only where there are `many` pieces or long ones; where there is
    none, the sentences that name most of what the others name stand for all. Raises ModelError,
    BuildStopped."""
    if asking.model is None:
        return [telling(pieces) for _, pieces, _ in found]
    texts = [SEPARATOR.join(pieces) for _, pieces, _ in found]
    large = [
        n
        for n, (_, pieces, _) in enumerate(found)
        if len(pieces) >= many or (len(pieces) > 1 and asking.estimate(texts[n]) >= LONG)
    ]
    tasks = [
        summary_task(pieces, name, SUMMARY, language, partial(telling, pieces))
        for name, pieces, language in (found[n] for n in large)
    ]
    for n, summary in zip(large, asking.all(KIND, tasks), strict=True):
        texts[n] = summary
    return texts


def telling(pieces: Iterable[str]) -> str:
    """The sentences whose words the others share most, in page order, without those that say the same."""
    sentences = _sentences(pieces)
    if len(sentences) <= 1:
        return " ".join(sentences)[:LONGEST_DESCRIPTION]
    words = [frozenset(sentence.casefold().split()) for sentence in sentences]
    counts = Counter(word for found in words for word in found)
    chosen: list[int] = []
    covered: set[str] = set()
    room = LONGEST_DESCRIPTION
    while len(chosen) < SENTENCES:
        left = [n for n in range(len(sentences)) if n not in chosen and len(sentences[n]) < room]
        if not left:
            break
        # How often its words are used, per word; a word that was told already counts nothing.
        worth = {n: sum(counts[word] for word in words[n] - covered) / (len(words[n]) + 4) for n in left}
        best = max(left, key=lambda n: (worth[n], -n))
        chosen.append(best)
        covered |= words[best]
        room -= len(sentences[best]) + 1
    return " ".join(sentences[n] for n in sorted(chosen)) or sentences[0][:LONGEST_DESCRIPTION]


def _sentences(pieces: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for piece in pieces:
        for sentence in split_sentences(piece):
            found.setdefault(sentence)
        if len(found) >= LOOKED_AT:
            break
    return list(found)[:LOOKED_AT]


MOST_SOURCES = 200
"""Chunks that an entity or relation names as its own."""
MOST_KEYWORDS = 12
"""Keywords of a relation, the most frequent ones."""
STEP = 500


@dataclass
class GraphNode:
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
class GraphEdge:
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
class MergedGraph:
    """Entities by key, and relations by weight."""

    nodes: dict[str, GraphNode]
    edges: list[GraphEdge]

    @property
    def told(self) -> list[Described]:
        """Return what is said of the entities, then of the relations."""
        return [
            *((node.name, list(node.fragments), node.language) for node in self.nodes.values()),
            *(
                (" – ".join(self.nodes[end].name for end in edge.ends), list(edge.fragments), edge.language)
                for edge in self.edges
            ),
        ]


def merged(
    chunks: Sequence[Chunk], extractions: Sequence[EntityExtraction], limits: GraphLimits, monitor: Monitor
) -> MergedGraph:
    """The graph of these chunks, within the limits. Raises BuildStopped."""
    titled = {key for chunk in chunks for key in _heads(chunk)}
    kept = kept_entities(_found_in(extractions, monitor), titled, limits)
    pairs = kept_relations(_pairs(extractions, kept, monitor), limits)
    nodes = {key: GraphNode(key) for key in sorted(kept)}
    edges = {pair: GraphEdge(pair) for pair in pairs}
    pairs_of = list(zip(chunks, extractions, strict=True))
    for chunk, extraction in watched(monitor, "merging", pairs_of, STEP):
        _add_entities(nodes, chunk, extraction)
        _add_relations(edges, chunk, extraction)
    return MergedGraph({key: node for key, node in nodes.items() if node.names}, list(edges.values()))


def _heads(chunk: Chunk) -> set[str]:
    """Keys of the title and the headings of a chunk."""
    return {
        phrase_key(plain_title(chunk.title)),
        *(phrase_key(plain_heading(one)) for one in chunk.heading_path),
    }


def _pair(relation: ExtractedRelation) -> Pair | None:
    """In alphabetical order; None for a relation of something to itself, or to nothing."""
    one, other = phrase_key(relation.source), phrase_key(relation.target)
    if not one or not other or one == other:
        return None
    return (one, other) if one < other else (other, one)


def _found_in(extractions: Sequence[EntityExtraction], monitor: Monitor) -> Counter[str]:
    """Key of an entity -> in how many chunks it occurs."""
    found: Counter[str] = Counter()
    for extraction in watched(monitor, "entities", extractions, STEP):
        found.update({phrase_key(entity.name) for entity in extraction.entities})
    del found[""]
    return found


def _pairs(
    extractions: Sequence[EntityExtraction], kept: set[str], monitor: Monitor
) -> list[dict[Pair, float]]:
    """Relations between the entities that are kept, with their weights, for each chunk."""
    found = []
    for extraction in watched(monitor, "relations", extractions, STEP):
        of_chunk: dict[Pair, float] = {}
        for relation in extraction.relations:
            pair = _pair(relation)
            if pair and pair[0] in kept and pair[1] in kept:
                of_chunk[pair] = of_chunk.get(pair, 0.0) + relation.weight
        found.append(of_chunk)
    return found


def _add_entities(nodes: dict[str, GraphNode], chunk: Chunk, extraction: EntityExtraction) -> None:
    heads = _heads(chunk)
    for entity in extraction.entities:
        key = phrase_key(entity.name)
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


def _add_relations(edges: dict[Pair, GraphEdge], chunk: Chunk, extraction: EntityExtraction) -> None:
    for relation in extraction.relations:
        pair = _pair(relation)
        edge = edges.get(pair) if pair else None
        if edge is None:
            continue
        if not edge.sources:
            edge.ends = (phrase_key(relation.source), phrase_key(relation.target))
            edge.language = chunk.language
        edge.weight += relation.weight
        if len(edge.sources) < MOST_SOURCES or chunk.id in edge.sources:
            edge.sources.setdefault(chunk.id)
            edge.keywords.update(relation.keywords)
            if relation.description:
                edge.fragments.setdefault(relation.description)


def _most(counted: Counter[str]) -> str:
    return min(counted, key=lambda value: (-counted[value], value), default="")
