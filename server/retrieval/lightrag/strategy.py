"""LightRAG: a graph of entities and relations beside the chunks, searched by names and by themes.

After Guo and others, "LightRAG: Simple and Fast Retrieval-Augmented Generation" (2024). An entity found
brings its relations, a relation its ends; both bring the chunks that they were read from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError, Vector
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.graph.extraction import extract
from server.retrieval.lightrag.descriptions import described
from server.retrieval.lightrag.graph import ENTITIES, RELATIONS, Graph, artefact_of
from server.retrieval.lightrag.keywords import Keywords, asked_of, without_model
from server.retrieval.lightrag.limits import Limits
from server.retrieval.lightrag.merging import Merged, merged
from server.retrieval.lightrag.options import LightRagOptions
from server.retrieval.lightrag.picking import Picked, led_to, picked
from server.retrieval.lightrag.searching import cut, search
from server.retrieval.parts import cosines, ranked

TOLD = 4
"""Descriptions that go along with a chunk at most."""
DEEP = 100
"""So deep the product's hybrid search is looked at in mix."""


class LightRagStrategy(DerivedStrategy[LightRagOptions]):
    """Modes naive, local, global, hybrid and mix; mix joins the graph with the product's hybrid search."""

    row = "lightrag"
    Options: ClassVar[type[LightRagOptions]] = LightRagOptions
    _read: tuple[Artefact, Graph] | None = None

    def derive(self, kit: Kit) -> Artefact:
        """Extraction, merging, descriptions, and the vectors of entities and relations."""
        extractions = extract(kit, kit.chunks, gleanings=self.options.gleanings)
        graph = merged(kit.chunks, extractions, self._limits(kit), kit.monitor)
        made = _with_descriptions(kit, graph)
        for kind in (ENTITIES, RELATIONS):
            kit.vectors(kind, made.records[kind])
        return made

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """In mix, hybrid's ranking with a share for what the graph leads to; else the mode as published."""
        if self.options.mode == "mix":
            hits = self._mixed(query, limit, self._graph(live))
        else:
            hits = self._pure(query, limit, self._graph(live))
        return self.base.finish(query, hits)

    def _mixed(self, query: Query, limit: int, graph: Graph) -> list[ScoredChunk]:
        found = self.base.retrieve(query, max(DEEP, limit))
        picks = self._picked(query, graph)
        share = self.options.graph_share
        known = {hit.chunk.id: hit for hit in found}
        added = picks.evidence
        more = self._parts.chunks.load([id for id in added if id not in known])
        hits = [*found, *(ScoredChunk(chunk, 0.0) for chunk in more.values())]
        joined = [
            replace(
                hit,
                score=min(1.0, (hit.score + share * added.get(hit.chunk.id, 0.0)) / (1 + share)),
                scores={**hit.scores, "graph": round(added.get(hit.chunk.id, 0.0), 4)},
            )
            for hit in hits
        ]
        return self._told(ranked(joined, limit), graph, picks)

    def _pure(self, query: Query, limit: int, graph: Graph) -> list[ScoredChunk]:
        """The published order: chunks of the vectors, of the entities and of the relations in turn."""
        mode, most = self.options.mode, self.options.chunk_top_k
        near = self._naive(query, most) if mode == "naive" else []
        picks = Picked() if mode == "naive" else self._picked(query, graph)
        order = in_turn(near, picks.of_entities, picks.of_relations)[:most]
        found = self._parts.chunks.load(order)
        hits = [
            ScoredChunk(found[id], 1 - place / (len(order) + 1))
            for place, id in enumerate(order)
            if id in found
        ]
        return self._told(self._within(hits, picks)[:limit], graph, picks)
