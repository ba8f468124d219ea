"""LightRAG: a graph of entities and relations in addition to the chunks, searched by names and by themes.

After Guo and others, "LightRAG: Simple and Fast Retrieval-Augmented Generation" (2024). An entity found
brings its relations, a relation its ends; both bring the chunks that they were read from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import nsmallest

from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError, reads
from server.domain.question import Query
from server.retrieval.parts import in_turn, search_live, stored_cosines
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedIndex, DerivedSearch, derived_kind
from server.retrieval.published.graph.extraction import extract
from server.retrieval.published.graph.merging import GraphLimits, described, merged
from server.retrieval.published.lightrag.keywords import Keywords, asked_of, without_model
from server.retrieval.published.lightrag.search import (
    ENTITIES,
    RELATIONS,
    Cosines,
    EntityGraph,
    GraphMatches,
    Lead,
    LightRagOptions,
    artefact_of,
    cut,
    leads,
    picked,
    search,
    tell,
    within,
)
from server.retrieval.rarity import Rarity
from server.retrieval.rerank import FeatureReranker

DEEP = 100
"""So deep the product's hybrid search is looked at in mix."""
ADDED = 50
"""Chunks that only the graph leads to, looked at in addition to those."""
WORDED = 0.6
"""How near the best match of words is taken to be, among cosines."""


def derive(kit: Kit, options: LightRagOptions) -> Artefact:
    """Extraction, merging, descriptions, and the vectors of entities and relations."""
    extractions = extract(kit, kit.chunks, gleanings=options.gleanings)
    # A phrase that one page has once is seldom a thing of the site; what a model names is one.
    seen_in = 1 if kit.asking.model else options.seen_in
    limits = GraphLimits(seen_in, options.entities, options.relations)
    graph = merged(kit.chunks, extractions, limits, kit.monitor)
    texts = described(kit.asking, graph.told)
    made = artefact_of(graph, texts[: len(graph.nodes)], texts[len(graph.nodes) :])
    for kind in (ENTITIES, RELATIONS):
        # Vectors say something in languages that the embedder reads; the others are found by their words.
        kit.vectors(kind, [one for one in made.records[kind] if reads(kit.embedder, one.language)])
        kit.words(kind, [one for one in made.records[kind] if not reads(kit.embedder, one.language)])
    return made


class LightRagSearch(DerivedSearch[LightRagOptions]):
    """Modes naive, local, global, hybrid and mix; mix joins the graph with the product's hybrid search."""

    def __init__(self, index: DerivedIndex[LightRagOptions]) -> None:
        super().__init__(index)
        self._tokens = index.deriving.estimate_tokens
        self._features = FeatureReranker(Rarity(index.parts.words))

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """In mix, hybrid's ranking with a share for what the graph leads to; else the mode as published."""
        graph = live.view(EntityGraph)
        found = self._mixed(query, limit, graph) if self._options.mode == "mix" else self._pure(query, graph)
        return self._index.hybrid.finish(query, found[:limit])

    def keywords(self, query: Query, graph: EntityGraph) -> Keywords:
        """The model's, by one call; those of the question's own words where there is none or it fails."""
        if self._index.model is not None:
            try:
                return asked_of(self._index.model, query.text)
            except ModelError as error:
                self._parts.on_failure(error.kind, f"keywords of a question: {error}")
            except ValueError as error:
                self._parts.on_failure("bad_reply", f"keywords of a question: {error}")
        return without_model(query.text, query.language, graph.named)

    def _mixed(self, query: Query, limit: int, graph: EntityGraph) -> list[ScoredChunk]:
        found = self._found(query, graph)
        led = leads(graph, found)
        near = {id: lead.near for id, lead in led.items()}
        hits = self._index.hybrid.retrieve(query, max(DEEP, limit))
        new = near.keys() - {hit.chunk.id for hit in hits}
        others = nsmallest(ADDED, new, key=lambda id: (-near[id], id))
        joined = self._with_graph(hits, others, near, self._options.graph_share, limit)
        return _told(graph, found, led, joined)

    def _pure(self, query: Query, graph: EntityGraph) -> list[ScoredChunk]:
        """Chunks of the entities and of the relations in turn; in naive those next to the question."""
        mode, most = self._options.mode, self._options.chunk_top_k
        vector = self._vector(query)
        found = GraphMatches() if mode == "naive" else self._found(query, graph)
        near: Cosines = lambda ids: {}  # noqa: E731
        if self._is_read(query.language):
            near = partial(stored_cosines, self._parts.vectors, vector)
        naive = []
        if mode == "naive":
            nearest = partial(self._parts.vectors.search, vector)
            content = self._parts.chunks
            found_live = search_live(nearest, content.load, most, content.live_generation)
            naive = [chunk.id for chunk, _ in found_live]
        lists = [naive, *picked(graph, found, self._options, near)]
        order = list(dict.fromkeys(in_turn(lists)))
        chunks = self._parts.chunks.load(order)
        live = [chunks[id] for id in order if id in chunks]
        hits = [ScoredChunk(chunk, 1 - n / (len(live) + 1)) for n, chunk in enumerate(live)]
        if self._options.rerank == "features" and mode != "naive":
            hits = self._features.rerank(query, hits)
        return _told(graph, found, leads(graph, found), self._within(graph, found, hits[:most]))

    def _found(self, query: Query, graph: EntityGraph) -> GraphMatches:
        """Entities and relations within their budgets."""
        keywords = self.keywords(query, graph)
        near = partial(self._near, query, graph)
        found = search(graph, keywords, query.text, self._options.mode, near)
        return cut(graph, found, self._options, self._tokens)

    def _near(self, query: Query, graph: EntityGraph, kind: str, text: str) -> dict[int, float]:
        """By vectors; by words where the embedder does not read the question."""
        live, most = graph.live, self._options.top_k
        if self._is_read(query.language):
            vector = self._parts.embedder.embed([text])[0]
            hits = self._index.nearest(kind, vector, most, live)
        else:
            found = self._index.worded(kind, text, most, live)
            hits = [(record, WORDED * score / found[0][1]) for record, score in found]
        return {live.place[record.id]: near for record, near in hits if near >= self._options.similarity}

    def _within(
        self, graph: EntityGraph, found: GraphMatches, hits: Sequence[ScoredChunk]
    ) -> list[ScoredChunk]:
        """Return the hits that fit the total budget with the entities and relations; at least one."""
        told = [graph.told_entity(n) for n in found.entities]
        told += [graph.told_relation(n) for n in found.relations]
        left = self._options.total_tokens - sum(map(self._tokens, told))
        return within(hits, lambda hit: self._tokens(hit.chunk.text), left) or list(hits[:1])


def _told(
    graph: EntityGraph, found: GraphMatches, led: Mapping[str, Lead], hits: Sequence[ScoredChunk]
) -> list[ScoredChunk]:
    """The hits, each with what led to it."""
    tell(graph, found, [hit.chunk.id for hit in hits], led)
    return [
        replace(hit, context="\n".join(lead.told), why=lead.why) if (lead := led.get(hit.chunk.id)) else hit
        for hit in hits
    ]


LIGHTRAG = derived_kind("lightrag", LightRagOptions, derive, LightRagSearch)
