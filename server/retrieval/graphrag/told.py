"""The graph as a model tells it: entities and relations of all chunks, merged, with one description each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from server.retrieval.derived.kit import Kit
from server.retrieval.graph.descriptions import KIND, telling
from server.retrieval.graph.extraction import extract
from server.retrieval.graph.limits import Limits
from server.retrieval.graph.merging import merged
from server.retrieval.graphrag.claims import claims_of
from server.retrieval.graphrag.graph import Entity, SiteGraph, Statement
from server.retrieval.graphrag.options import GraphRagOptions
from server.retrieval.summaries import summary_task

MOST_TOKENS = 500
"""Of a description."""
ALL = Limits(seen_in=1, entities=1_000_000_000, relations=1_000_000_000)


@dataclass(frozen=True)
class ToldGraph(SiteGraph):
    """A relation is what the model wrote down of it."""

    relations: Sequence[Statement] = field(default=())

    def statement(self, relation: int) -> Statement | None:
        return self.relations[relation]

    def statements(self, entities: Sequence[int], relations: Iterable[int]) -> Iterator[Statement]:
        """Relations of well-connected entities first, each behind what is said of its ends."""
        degree = self.degrees
        ends = self.ends
        told: set[int] = set()
        for relation in sorted(relations, key=lambda one: -int(degree[ends[one]].sum())):
            for entity in ends[relation].tolist():
                if entity not in told:
                    told.add(entity)
                    yield from self._of_entity(entity)
            statement = self.relations[relation]
            yield Statement(f"{self.between(relation)}: {statement.text}", statement.chunks)
        for entity in entities:
            if entity not in told:
                yield from self._of_entity(entity)

    def _of_entity(self, at: int) -> Iterator[Statement]:
        entity = self.entities[at]
        kind = f" ({entity.type})" if entity.type else ""
        yield Statement(f"{entity.name}{kind}: {entity.description}".rstrip(": "), entity.chunks)
        yield from self.claims.get(at, ())


def told_graph(kit: Kit, options: GraphRagOptions) -> ToldGraph:
    """The graph of the kit's chunks. Raises ModelError, BuildStopped."""
    chunks = kit.chunks
    extractions = extract(kit, chunks, gleanings=options.gleanings)
    graph = merged(chunks, extractions, ALL, kit.monitor)
    number = {chunk.id: at for at, chunk in enumerate(chunks)}
    place = {key: at for at, key in enumerate(graph.nodes)}
    named = [(node.name, list(node.fragments), node.language) for node in graph.nodes.values()]
    related = [
        (" – ".join(graph.nodes[key].name for key in edge.ends), list(edge.fragments), edge.language)
        for edge in graph.edges
    ]
    texts = _described(kit, [*named, *related])
    entities = [
        Entity(node.name, node.type, text, tuple(sorted(number[id] for id in node.sources)))
        for node, text in zip(graph.nodes.values(), texts, strict=False)
    ]
    relations = [
        Statement(text, tuple(number[id] for id in edge.sources))
        for edge, text in zip(graph.edges, texts[len(entities) :], strict=True)
    ]
    ends = np.asarray([[place[key] for key in edge.ends] for edge in graph.edges], np.int32).reshape(-1, 2)
    weights = np.asarray([edge.weight for edge in graph.edges], np.float64)
    claims = claims_of(kit, entities) if options.claims else {}
    return ToldGraph(chunks, entities, ends, weights, claims, relations)


def _described(kit: Kit, told: Sequence[tuple[str, list[str], str]]) -> list[str]:
    """One description of each; a model words those that several chunks speak of."""
    texts = [pieces[0] if pieces else "" for _, pieces, _ in told]
    several = [at for at, (_, pieces, _) in enumerate(told) if len(pieces) > 1]
    tasks = [
        summary_task(pieces, name, MOST_TOKENS, language, partial(telling, pieces))
        for name, pieces, language in (told[at] for at in several)
    ]
    for at, text in zip(several, kit.asking.all(KIND, tasks), strict=True):
        texts[at] = text
    return texts
