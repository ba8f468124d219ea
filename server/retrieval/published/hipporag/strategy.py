"""HippoRAG: from the phrases that a question names, a walk over facts, synonyms, passages and links finds
passages that share no word with the question.

Published as arXiv 2405.14831 (version 1) and 2502.14802 (version 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import ranked
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedSearch, derived_kind
from server.retrieval.published.graph.phrases import phrase_key, phrases
from server.retrieval.published.hipporag.graph import Floats, PassageGraph, built
from server.retrieval.published.hipporag.reading import (
    links_of,
    passage_links,
    read,
    read_by_model,
    recognised,
    recognition,
)

DEPTH = 50
"""Passages of hybrid search that a walk may start from, and that are fused with what it finds."""
ALIKE = 0.5
"""How near a phrase of the question has to be spelled to one of the pages."""
PLAIN_WEIGHT = 0.5
"""Weight of a phrase in plain words, relative to one in capitals or quotation marks."""
FACTS = 5
"""Facts that a walk starts from."""
FACT_WEIGHT = 0.3
"""Weight of a phrase that a fact near the question names, relative to one that the question names."""
PASSAGE_WEIGHT = 0.05
"""Weight of the first passage of hybrid search, relative to a phrase that the question names."""


@dataclass(frozen=True)
class HippoRagOptions(StrategyOptions):
    """How the graph is built and walked."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"version", "damping", "links", "recognise", "share"})

    version: Annotated[int, Field(ge=1, le=2)] = 2
    """2: passages are nodes, facts and passages seed the walk too. 1: phrases alone are walked."""
    damping: Annotated[float, Field(ge=0.05, le=0.95)] = 0.85
    """How probably the walk goes on along an edge rather than start again."""
    links: bool = False
    """Whether the site's own hyperlinks are edges."""
    recognise: bool = True
    """Whether a chat model picks among the facts found, where there is one."""
    share: Annotated[float, Field(ge=0, le=1)] = 0.8
    """The walk's share of a score where the question names something that stands in a single passage."""
    synonyms: Annotated[float, Field(ge=0.5, le=1)] = 0.8
    """How alike two phrases are that are tied as synonyms."""
    neighbours: Annotated[int, Field(ge=1, le=2047)] = 100
    """Synonyms that one phrase has at most."""


def derive(kit: Kit, options: HippoRagOptions) -> Artefact:
    """The graph; with a model also its facts as records, searched by their vectors."""
    pages = list(kit.text.pages())
    links = links_of(pages, kit.text.facts)
    if kit.asking.model is None:
        reading = read(pages, {words for page in links for _, words in page}, kit.monitor)
    else:
        reading = read_by_model(kit, pages)
    synonyms = (options.synonyms, options.neighbours)
    passages = [chunk.id for page in pages for chunk in page]
    made = built(reading, passages, passage_links(pages, links), synonyms, kit.monitor)
    if "facts" in made.records:
        kit.vectors("facts", made.records["facts"])
    return made


class HippoRagSearch(DerivedSearch[HippoRagOptions]):
    """Answers questions over several hops; as good as hybrid where a question names nothing."""

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Hybrid's passages and those that the walk finds, fused."""
        graph = live.view(PassageGraph)
        named = self._named(query, graph)
        told = self._facts(query, graph, live) if self._options.version == 2 else []
        if told is None or not (named or told):
            return self._index.hybrid.retrieve(query, limit)
        found = self._index.hybrid.retrieve(query, max(limit, DEPTH))
        if not found:
            return []
        walk, phrase_ranks = self._walked(graph, named, told, found)
        sure = max((weight * graph.certainty(at) for at, weight in named.items()), default=0.0)
        fused = self._fused(graph, found, walk, self._options.share * sure**2)
        told_how = [_with_way(hit, graph, phrase_ranks) for hit in ranked(fused, limit)]
        return self._index.hybrid.finish(query, told_how)

    def _named(self, query: Query, graph: PassageGraph) -> dict[int, float]:
        """Phrases of the pages that the question names, with how near they are spelled."""
        asked = dict.fromkeys(map(phrase_key, phrases(query.text, query.language)), 1.0)
        asked = dict.fromkeys(graph.names.found(query.text), PLAIN_WEIGHT) | asked
        found: dict[int, float] = {}
        for key, weight in asked.items():
            known = graph.number.get(key)
            near = [(known, 1.0)] if known is not None else graph.likeness.nearest(key, ALIKE, 1)
            for at, cosine in near:
                found[at] = max(weight * cosine, found.get(at, 0.0))
        return found

    def _facts(
        self, query: Query, graph: PassageGraph, live: Artefact
    ) -> list[tuple[int, int, float]] | None:
        """The facts nearest to the question; those that a model recognises. None where it recognises none."""
        if not live.records.get("facts"):
            return graph.fact_scores(query.text, query.language, FACTS)
        near = self._index.nearest("facts", self._vector(query), FACTS, live)
        picked = self._recognised(query, [record.text for record, _ in near])
        if near and not picked:
            return None
        found = []
        for place in picked:
            record, score = near[place]
            ends = record.data["ends"]
            assert isinstance(ends, list)
            if all(end in graph.number for end in ends):
                found.append((graph.number[ends[0]], graph.number[ends[1]], max(score, 0.0)))
        return found

    def _recognised(self, query: Query, facts: Sequence[str]) -> Sequence[int]:
        if self._index.model is None or not self._options.recognise or not facts:
            return range(len(facts))
        try:
            return recognised(self._index.model.complete(recognition(query.text, facts)), len(facts))
        except ModelError as error:
            self._parts.on_failure(error.kind, f"picking facts: {error}")
        except ValueError as error:
            self._parts.on_failure("bad_reply", f"picking facts: {error}")
        return range(len(facts))

    def _walked(
        self,
        graph: PassageGraph,
        named: dict[int, float],
        told: Sequence[tuple[int, int, float]],
        found: Sequence[ScoredChunk],
    ) -> tuple[Floats, Floats]:
        """How often the walk comes by each passage, and by each phrase."""
        options = self._options
        if options.version == 1:
            return graph.phrase_ranks(named, options.damping)
        seeds = dict(named)
        by_phrase: dict[int, list[float]] = {}
        for one, other, score in told:
            for at in {one, other}:
                by_phrase.setdefault(at, []).append(score)
        for at, scores in by_phrase.items():
            seeds[at] = seeds.get(at, 0.0) + FACT_WEIGHT * sum(scores) / len(scores)
        passages = np.zeros(len(graph.passages), np.float32)
        best = max(hit.score for hit in found) or 1.0
        for hit in found:
            if hit.chunk.id in graph.place:
                passages[graph.place[hit.chunk.id]] = PASSAGE_WEIGHT * hit.score / best
        return graph.passage_ranks(seeds, passages, options.damping, options.links)

    def _fused(
        self, graph: PassageGraph, found: Sequence[ScoredChunk], walk: Floats, share: float
    ) -> list[ScoredChunk]:
        """Square roots, since a walk stays near its start: else one passage would take all."""
        near = np.sqrt(walk / (float(walk.max()) or 1.0)).round(6)
        by_id = {hit.chunk.id: hit for hit in found}
        far = np.argsort(-near, kind="stable")[:DEPTH].tolist()
        new = {graph.passages[at]: 0.0 for at in far if near[at] > 0 and graph.passages[at] not in by_id}
        top = max(hit.score for hit in found)
        fused = []
        for hit in [*found, *self._index.chunks_of(new)]:
            at = graph.place.get(hit.chunk.id)
            reached = float(near[at]) if at is not None else 0.0
            score = round((1 - share) * hit.score + share * top * reached, 6)
            fused.append(replace(hit, score=score, scores={**hit.scores, "walk": round(reached, 4)}))
        return fused


def _with_way(hit: ScoredChunk, graph: PassageGraph, phrase_ranks: Floats) -> ScoredChunk:
    """With the phrase that led the walk to it."""
    at = graph.place.get(hit.chunk.id)
    way = graph.way_to(at, phrase_ranks) if at is not None and hit.scores.get("walk") else ""
    return replace(hit, why=f"by way of {way}") if way else hit


HIPPORAG = derived_kind("hipporag", HippoRagOptions, derive, HippoRagSearch, version=2)
