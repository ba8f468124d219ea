"""LightRAG: a graph of entities and relations beside the chunks, searched by names and by themes.

After Guo and others, "LightRAG: Simple and Fast Retrieval-Augmented Generation" (2024). An entity found
brings its relations, a relation its ends; both bring the chunks that they were read from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import nsmallest
from typing import ClassVar

from server.domain.chunk import ScoredChunk
from server.domain.derived import Record
from server.domain.protocols import ModelError, Vector
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.strategy import DerivedStrategy, with_context
from server.retrieval.graph.descriptions import described
from server.retrieval.graph.extraction import extract
from server.retrieval.graph.limits import Limits
from server.retrieval.graph.merging import Merged, merged
from server.retrieval.lightrag.choosing import in_turn, within
from server.retrieval.lightrag.graph import ENTITIES, RELATIONS, Graph, artefact_of
from server.retrieval.lightrag.keywords import Keywords, asked_of, without_model
from server.retrieval.lightrag.options import LightRagOptions
from server.retrieval.lightrag.picking import Lead, leads, picked, tell
from server.retrieval.lightrag.searching import Found, cut, search
from server.retrieval.parts import Parts, cosines, ranked, search_live
from server.retrieval.rarity import Rarity
from server.retrieval.rerank import FeatureReranker

DEEP = 100
"""So deep the product's hybrid search is looked at in mix."""
ADDED = 50
"""Chunks that only the graph leads to, looked at beside those."""
WORDED = 0.6
"""How near the best match of words is taken to be, among cosines."""


class LightRagStrategy(DerivedStrategy[LightRagOptions]):
    """Modes naive, local, global, hybrid and mix; mix joins the graph with the product's hybrid search."""

    row = "lightrag"
    Options: ClassVar[type[LightRagOptions]] = LightRagOptions

    def __init__(self, parts: Parts, options: LightRagOptions | None = None) -> None:
        super().__init__(parts, options)
        self._tokens = self._deriving.estimate_tokens
        self._features = FeatureReranker(Rarity(parts.words))
        self._graph: Graph | None = None

    def derive(self, kit: Kit) -> Artefact:
        """Extraction, merging, descriptions, and the vectors of entities and relations."""
        extractions = extract(kit, kit.chunks, gleanings=self.options.gleanings)
        # A phrase that one page has once is seldom a thing of the site; what a model names is one.
        seen_in = 1 if kit.asking.model else self.options.seen_in
        limits = Limits(seen_in, self.options.entities, self.options.relations)
        made = _described(kit, merged(kit.chunks, extractions, limits, kit.monitor))
        for kind in (ENTITIES, RELATIONS):
            read, unread = self._by_language(made.records[kind])
            kit.vectors(kind, read)
            kit.words(kind, unread)
        return made

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """In mix, hybrid's ranking with a share for what the graph leads to; else the mode as published."""
        graph = self._of(live)
        found = self._mixed(query, limit, graph) if self.options.mode == "mix" else self._pure(query, graph)
        return self.base.finish(query, found[:limit])

    def keywords(self, query: Query, graph: Graph) -> Keywords:
        """The model's, by one call; those of the question's own words where there is none or it fails."""
        if self.model is not None:
            try:
                return asked_of(self.model, query.text)
            except ModelError as error:
                self._parts.on_failure(error.kind, f"keywords of a question: {error}")
            except ValueError as error:
                self._parts.on_failure("bad_reply", f"keywords of a question: {error}")
        return without_model(query.text, query.language, graph.named)

    def _by_language(self, records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
        """Those whose language the embedder reads, and the others, whose vectors would say nothing."""
        read = [record for record in records if self._reads(record.language)]
        return read, [record for record in records if not self._reads(record.language)]

    def _reads(self, language: str) -> bool:
        known = self._parts.embedder.languages
        return not known or not language or language in known

    def _of(self, live: Artefact) -> Graph:
        if self._graph is None or self._graph.live is not live:
            self._graph = Graph(live)
        return self._graph

    def _mixed(self, query: Query, limit: int, graph: Graph) -> list[ScoredChunk]:
        found = self._found(query, graph)
        led = leads(graph, found)
        hits = {hit.chunk.id: hit for hit in self.base.retrieve(query, max(DEEP, limit))}
        others = nsmallest(ADDED, set(led) - set(hits), key=lambda id: (-led[id].near, id))
        more = self._parts.chunks.load(others)
        every = [*hits.values(), *(ScoredChunk(chunk, 0.0) for chunk in more.values())]
        joined = ranked([self._joined(hit, led.get(hit.chunk.id)) for hit in every], limit)
        return _told(graph, found, led, joined)

    def _joined(self, hit: ScoredChunk, lead: Lead | None) -> ScoredChunk:
        share, near = self.options.graph_share, lead.near if lead else 0.0
        score = min(1.0, max(0.0, (hit.score + share * near) / (1 + share)))
        return replace(hit, score=score, scores={**hit.scores, "graph": round(near, 4)})

    def _pure(self, query: Query, graph: Graph) -> list[ScoredChunk]:
        """Chunks of the entities and of the relations in turn; in naive those next to the question."""
        mode, most = self.options.mode, self.options.chunk_top_k
        vector = self._parts.embedder.embed([query.searched_text])[0]
        found = Found() if mode == "naive" else self._found(query, graph)
        near = partial(self._cosines, vector) if self._reads(query.language) else _no_cosines
        naive = self._naive(vector, most) if mode == "naive" else []
        order = in_turn(naive, *picked(graph, found, self.options, near))
        chunks = self._parts.chunks.load(order)
        live = [chunks[id] for id in order if id in chunks]
        hits = [ScoredChunk(chunk, 1 - n / (len(live) + 1)) for n, chunk in enumerate(live)]
        if self.options.rerank == "features" and mode != "naive":
            hits = self._features.rerank(query, hits)
        return _told(graph, found, leads(graph, found), self._within(graph, found, hits[:most]))

    def _found(self, query: Query, graph: Graph) -> Found:
        """Entities and relations within their budgets."""
        keywords = self.keywords(query, graph)
        near = partial(self._near, query, graph)
        return cut(
            graph, search(graph, keywords, query.text, self.options.mode, near), self.options, self._tokens
        )

    def _near(self, query: Query, graph: Graph, kind: str, text: str) -> dict[int, float]:
        """By vectors; by words where the embedder does not read the question."""
        live, most = graph.live, self.options.top_k
        if self._reads(query.language):
            vector = self._parts.embedder.embed([text])[0]
            hits = self.nearest(kind, vector, most, live)
        else:
            found = self.worded(kind, text, most, live)
            hits = [(record, WORDED * score / found[0][1]) for record, score in found]
        return {live.place[record.id]: near for record, near in hits if near >= self.options.similarity}

    def _cosines(self, vector: Vector, ids: Sequence[str]) -> Mapping[str, float]:
        stored = self._parts.vectors.vectors(ids)
        return dict(zip(stored, cosines(vector, list(stored.values())), strict=True))

    def _naive(self, vector: Vector, most: int) -> list[str]:
        hits = search_live(lambda n: self._parts.vectors.search(vector, n), self._parts.chunks, most)
        return [chunk.id for chunk, _ in hits]

    def _within(self, graph: Graph, found: Found, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Those that the total budget has room for beside the entities and relations; one at the least."""
        told = [graph.told_entity(n) for n in found.entities]
        told += [graph.told_relation(n) for n in found.relations]
        left = self.options.total_tokens - sum(map(self._tokens, told))
        return within(hits, lambda hit: self._tokens(hit.chunk.text), left) or list(hits[:1])


def _no_cosines(ids: Sequence[str]) -> Mapping[str, float]:
    """Of chunks and questions in a language that the embedder does not read."""
    return {}


def _described(kit: Kit, graph: Merged) -> Artefact:
    nodes = [(node.name, list(node.fragments), node.language) for node in graph.nodes.values()]
    edges = [
        (" – ".join(graph.nodes[end].name for end in edge.ends), list(edge.fragments), edge.language)
        for edge in graph.edges
    ]
    texts = described(kit.asking, [*nodes, *edges])
    return artefact_of(graph, texts[: len(nodes)], texts[len(nodes) :])


def _told(
    graph: Graph, found: Found, led: Mapping[str, Lead], hits: Sequence[ScoredChunk]
) -> list[ScoredChunk]:
    """The same with what led to each."""
    tell(graph, found, [hit.chunk.id for hit in hits], led)
    return [
        with_context(hit, "\n".join(lead.told), lead.why) if (lead := led.get(hit.chunk.id)) else hit
        for hit in hits
    ]
