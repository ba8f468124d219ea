"""The graph of LightRAG, and the way from keywords to entities and relations and on to chunks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from server.domain.derived import Record, record_id
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import in_turn
from server.retrieval.published.derived.build import Array, Artefact
from server.retrieval.published.graph.merging import GraphEdge, GraphNode, MergedGraph
from server.retrieval.published.graph.phrases import phrase_key
from server.retrieval.published.lightrag.keywords import Keywords

Mode = Literal["naive", "local", "global", "hybrid", "mix"]


@dataclass(frozen=True)
class LightRagOptions(StrategyOptions):
    """The published defaults; limits of the index are what this product adds."""

    QUERY: ClassVar[frozenset[str]] = frozenset(
        {
            "mode",
            "top_k",
            "chunk_top_k",
            "similarity",
            "pick",
            "chunks_per_item",
            "entity_tokens",
            "relation_tokens",
            "total_tokens",
            "rerank",
            "graph_share",
        }
    )

    mode: Mode = "mix"
    """What is searched: "naive" the chunks' vectors, "local" entities and their relations, "global" relations
    and their entities, "hybrid" both, "mix" both beside the product's own hybrid search."""
    gleanings: Annotated[int, Field(ge=0, le=3)] = 1
    """How often a model is asked again for entities and relations that it missed."""
    top_k: Annotated[int, Field(ge=1, le=200)] = 40
    """Entities, and relations, that a question is taken to."""
    chunk_top_k: Annotated[int, Field(ge=1, le=200)] = 20
    """Chunks that a mode other than mix returns at most."""
    similarity: Annotated[float, Field(ge=-1, le=1)] = 0.2
    """The least cosine of an entity or relation with the keywords."""
    pick: Literal["vector", "weight"] = "vector"
    """How chunks are chosen from those of the entities and relations: "vector" by their cosine with the
    question, "weight" more from the first ones and fewer from the last."""
    chunks_per_item: Annotated[int, Field(ge=1, le=50)] = 5
    """Chunks from the first entity or relation at most; half of it from each on average."""
    entity_tokens: Annotated[int, Field(ge=0)] = 6000
    """So much of entities is kept for one question."""
    relation_tokens: Annotated[int, Field(ge=0)] = 8000
    """So much of relations is kept for one question."""
    total_tokens: Annotated[int, Field(ge=100)] = 30000
    """Entities, relations and chunks of one question together."""
    rerank: Literal["features", "none"] = "features"
    """Whether the chunks of a mode other than mix are reordered by the features of the match."""
    graph_share: Annotated[float, Field(ge=0, le=1)] = 0.3
    """In mix: what an entity or relation can add to the score of a chunk."""
    seen_in: Annotated[int, Field(ge=1, le=20)] = 2
    """Without a model: chunks that must have a phrase before it is an entity; titles and headings are."""
    entities: Annotated[int, Field(ge=1, le=200_000)] = 10_000
    """At most so many are kept: titles and headings first, then those in most chunks."""
    relations: Annotated[int, Field(ge=1, le=200_000)] = 10_000
    """At most so many are kept: of every chunk the weightiest first."""


ENTITIES, RELATIONS = "entities", "relations"


def artefact_of(merged: MergedGraph, of_nodes: Sequence[str], of_edges: Sequence[str]) -> Artefact:
    """Everything that a query needs; descriptions come in the order of nodes and edges."""
    nodes = list(merged.nodes.values())
    number = {node.key: n for n, node in enumerate(nodes)}
    entities = [_entity(node, text) for node, text in zip(nodes, of_nodes, strict=True)]
    relations = [
        _relation(edge, [nodes[number[key]].name for key in edge.ends], text)
        for edge, text in zip(merged.edges, of_edges, strict=True)
    ]
    ends = np.array([[number[key] for key in edge.ends] for edge in merged.edges], np.int32)
    weights = np.array([edge.weight for edge in merged.edges], np.float32)
    return Artefact(
        {ENTITIES: entities, RELATIONS: relations},
        {"ends": ends.reshape(-1, 2), "weights": weights},
    )


def _entity(node: GraphNode, description: str) -> Record:
    text = f"{node.name}\n{description}"
    sources = tuple(sorted(node.sources, key=node.sources.__getitem__))
    data = {"name": node.name, "type": node.type}
    return Record(record_id("entity", text), text, sources, language=node.language, data=data)


def _relation(edge: GraphEdge, names: Sequence[str], description: str) -> Record:
    keywords = ", ".join(edge.told_keywords)
    text = f"{keywords}\t{names[0]}\n{names[1]}\n{description}"
    data = {"keywords": keywords}
    return Record(record_id("relation", text), text, tuple(edge.sources), language=edge.language, data=data)


class EntityGraph:
    """Reads an artefact. Entities and relations go by their numbers."""

    def __init__(self, live: Artefact) -> None:
        self.live = live
        self.entities = live.records.get(ENTITIES, ())
        self.relations = live.records.get(RELATIONS, ())
        self.ends: list[tuple[int, int]] = [(int(a), int(b)) for a, b in live.arrays["ends"]]
        """The entities of each relation, by number."""
        self.rank = _ranks(live.arrays["ends"], live.arrays["weights"], len(self.entities))
        """Rank of each relation, 0 being the first: by the degrees of its ends, then by weight."""

    @cached_property
    def named(self) -> dict[str, int]:
        """Key of a name -> entity."""
        return {phrase_key(self.name(n)): n for n in range(len(self.entities))}

    @cached_property
    def relations_of(self) -> list[list[int]]:
        """Entity -> all that it is an end of."""
        found: list[list[int]] = [[] for _ in self.entities]
        for n, (one, other) in enumerate(self.ends):
            found[one].append(n)
            found[other].append(n)
        return found

    def name(self, entity: int) -> str:
        """As it is mostly written."""
        return str(self.entities[entity].data["name"])

    def told_entity(self, entity: int) -> str:
        """For a model to read, and for counting tokens."""
        _, _, description = self.entities[entity].text.partition("\n")
        return f"{self.name(entity)}: {description}" if description else self.name(entity)

    def told_relation(self, relation: int) -> str:
        """For a model to read, and for counting tokens."""
        _, _, described = self.relations[relation].text.partition("\n")
        _, _, description = described.partition("\n")
        keywords = str(self.relations[relation].data["keywords"])
        themes = f" ({keywords})" if keywords else ""
        return f"{self.between(relation)}{themes}: {description}"

    def between(self, relation: int) -> str:
        """The names of both ends."""
        one, other = self.ends[relation]
        return f"{self.name(one)} – {self.name(other)}"


def _ranks(ends: Array, weights: Array, entities: int) -> list[int]:
    degrees = np.bincount(ends.ravel(), minlength=entities)
    order = np.lexsort((-weights.astype(np.float64), -degrees[ends].sum(axis=1)))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    found: list[int] = ranks.tolist()
    return found


V = TypeVar("V")


def within(items: Sequence[V], tokens: Callable[[V], int], most: int) -> list[V]:
    """Return the first items, as many as have up to `most` tokens together."""
    kept: list[V] = []
    for item in items:
        most -= tokens(item)
        if most < 0:
            break
        kept.append(item)
    return kept


def shared_out(lists: Sequence[Sequence[str]], taken: frozenset[str] = frozenset()) -> list[list[str]]:
    """Each chunk only with the first item that has it, those of many items first; none of `taken`."""
    counts = Counter(chunk for chunks in lists for chunk in dict.fromkeys(chunks))
    seen = set(taken)
    shares: list[list[str]] = []
    for chunks in lists:
        own = [chunk for chunk in dict.fromkeys(chunks) if chunk not in seen]
        seen.update(own)
        shares.append(sorted(own, key=lambda chunk: -counts[chunk]))
    return shares


def by_polling(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """Linear weighted polling: `most` chunks of the first list, one of the last, on a line between;
    what short lists leave is given one by one to those that have more."""
    if not lists:
        return []
    if len(lists) == 1:
        return list(lists[0][:most])
    slope = (most - 1) / (len(lists) - 1)
    due = [round(most - n * slope) for n in range(len(lists))]
    taken = [list(chunks[:count]) for chunks, count in zip(lists, due, strict=True)]
    left = sum(due) - sum(map(len, taken))
    rest = [list(chunks[count:]) for chunks, count in zip(lists, due, strict=True)]
    while left and any(rest):
        for own, more in zip(taken, rest, strict=True):
            if left and more:
                own.append(more.pop(0))
                left -= 1
    return [chunk for own in taken for chunk in own]


def by_cosine(lists: Sequence[Sequence[str]], cosine: Mapping[str, float], per_item: int) -> list[str]:
    """Return the chunks nearest to the question, `per_item` / 2 per list, chosen from all lists together."""
    wanted = per_item * len(lists) // 2 or 1
    every = list(dict.fromkeys(chunk for chunks in lists for chunk in chunks if chunk in cosine))
    return sorted(every, key=lambda chunk: (-cosine[chunk], chunk))[:wanted]


Scored = Mapping[int, float]
"""Number -> how near it is to the question, in the order that matters."""
Near = Callable[[str, str], Scored]
"""Kind and text -> the records of that kind that are near, best first, with their cosines."""


@dataclass(frozen=True)
class GraphMatches:
    """Entities and relations, those first that the question leads to first."""

    entities: Scored = field(default_factory=dict)
    relations: Scored = field(default_factory=dict)


def search(graph: EntityGraph, keywords: Keywords, question: str, mode: str, near: Near) -> GraphMatches:
    """For the modes local and global; any other takes both."""
    low, high = GraphMatches(), GraphMatches()
    if mode != "global":
        low = by_entities(graph, near(ENTITIES, ", ".join(keywords.low) or question))
    if mode != "local":
        high = by_relations(graph, near(RELATIONS, ", ".join(keywords.high) or question))
    return GraphMatches(_both(low.entities, high.entities), _both(low.relations, high.relations))


def by_entities(graph: EntityGraph, entities: Scored) -> GraphMatches:
    """Their relations too: those of well-connected ends first, then by weight. A relation is as near as its
    two ends are on average."""
    around = dict.fromkeys(relation for n in entities for relation in graph.relations_of[n])
    ordered = sorted(around, key=graph.rank.__getitem__)
    return GraphMatches(
        entities, {n: sum(entities.get(end, 0.0) for end in graph.ends[n]) / 2 for n in ordered}
    )


def by_relations(graph: EntityGraph, relations: Scored) -> GraphMatches:
    """Their ends too. An end is as near as the nearest of its relations."""
    ends: dict[int, float] = {}
    for n, near in relations.items():
        for end in graph.ends[n]:
            ends[end] = max(near, ends.get(end, near))
    return GraphMatches(ends, relations)


def cut(
    graph: EntityGraph, found: GraphMatches, options: LightRagOptions, tokens: Callable[[str], int]
) -> GraphMatches:
    """Return what fits the token budgets."""
    entities = within(list(found.entities), lambda n: tokens(graph.told_entity(n)), options.entity_tokens)
    relations = within(
        list(found.relations), lambda n: tokens(graph.told_relation(n)), options.relation_tokens
    )
    return GraphMatches({n: found.entities[n] for n in entities}, {n: found.relations[n] for n in relations})


def _both(one: Scored, other: Scored) -> Scored:
    return {n: max(one.get(n, 0.0), other.get(n, 0.0)) for n in in_turn([list(one), list(other)])}


Cosines = Callable[[Sequence[str]], Mapping[str, float]]
"""Cosines of chunks with the question; chunks without a vector are left out."""
TOLD = 4
"""Descriptions that go along with a chunk at most."""


@dataclass
class Lead:
    """What leads to a chunk."""

    near: float
    """How near the nearest of it is to the question."""
    why: str
    told: list[str] = field(default_factory=list)
    """What a model may read in addition to the chunk; each stands with one chunk only."""


def picked(
    graph: EntityGraph, found: GraphMatches, options: LightRagOptions, cosines: Cosines
) -> tuple[list[str], list[str]]:
    """Chunks of the entities, and of the relations those that are not among them; best first."""
    lists = shared_out([graph.entities[n].sources for n in found.entities])
    of_entities = _taken(lists, options, cosines)
    others = [graph.relations[n].sources for n in found.relations]
    of_relations = _taken(shared_out(others, frozenset(of_entities)), options, cosines)
    return of_entities, of_relations


def leads(graph: EntityGraph, found: GraphMatches) -> dict[str, Lead]:
    """Chunk id -> what leads to it."""
    led: dict[str, Lead] = {}
    for near, chunks, why, _ in _items(graph, found):
        for chunk in chunks:
            lead = led.setdefault(chunk, Lead(near, why))
            if near > lead.near:
                lead.near, lead.why = near, why
    return led


def tell(graph: EntityGraph, found: GraphMatches, order: Sequence[str], led: Mapping[str, Lead]) -> None:
    """Gives each description to the first chunk of `order` that has room for it: so a model that reads them
    reads each once, in addition to what it was read from."""
    place = {chunk: n for n, chunk in enumerate(order)}
    for _, chunks, _, text in _items(graph, found):
        for chunk in sorted((chunk for chunk in chunks if chunk in place), key=place.__getitem__):
            if len(led[chunk].told) < TOLD:
                led[chunk].told.append(text)
                break


def _items(graph: EntityGraph, found: GraphMatches) -> Iterator[tuple[float, Sequence[str], str, str]]:
    """(nearness, chunks, reason, text) of each entity and relation."""
    for n, near in found.entities.items():
        yield near, graph.entities[n].sources, f"entity {graph.name(n)}", graph.told_entity(n)
    for n, near in found.relations.items():
        yield near, graph.relations[n].sources, f"relation {graph.between(n)}", graph.told_relation(n)


def _taken(lists: Sequence[Sequence[str]], options: LightRagOptions, cosines: Cosines) -> list[str]:
    if options.pick == "vector":
        near = cosines(list(dict.fromkeys(chunk for chunks in lists for chunk in chunks)))
        if near:
            return by_cosine(lists, near, options.chunks_per_item)
    return by_polling(lists, options.chunks_per_item)
