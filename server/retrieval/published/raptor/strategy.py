"""Retrieval over a tree of summaries.

After Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval", ICLR 2024.
Two things differ: chunks are always what is returned, with the summaries as context; and hybrid search
keeps a share of the score, so that a question about one sentence is answered as well as without the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record
from server.domain.protocols import Vector
from server.domain.question import Query
from server.retrieval.fusion import min_max
from server.retrieval.parts import cosines, ranked, reads
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedIndex, derived_kind, with_context
from server.retrieval.published.raptor.options import KIND, RaptorOptions

OVERSAMPLE = 10
"""Times as many summaries as wanted are compared."""
DENSE_SHARE = 0.6
"""Share of the vectors in the relevance of a summary; words get the rest."""


@dataclass(frozen=True, slots=True)
class FoundSummary:
    """A summary that the question may be about."""

    record: Record
    relevance: float
    """In [0, 1]; comparable within one search."""

    @property
    def layer(self) -> int:
        return cast(int, self.record.data["layer"])


class SummarySearch:
    """One question's search among the summaries of a state."""

    def __init__(self, index: DerivedIndex[RaptorOptions], live: Artefact, readable: bool) -> None:
        """`readable` says whether the embedder reads the question's language; otherwise words have to do."""
        self._index = index
        self._live = live
        self._wanted = index.options.nodes
        self._share = DENSE_SHARE if readable else 0.0

    def collapsed(self, query: Query, vector: Vector) -> list[FoundSummary]:
        """Summaries of all layers, best first: those wanted, and more, so that every chunk that may come up
        is measured by the summaries above it and not by whether one of them is among the best."""
        dense = self._index.nearest(KIND, vector, OVERSAMPLE * self._wanted, self._live)
        words = self._index.worded(KIND, query.text, OVERSAMPLE * self._wanted, self._live)
        records = {record.id: record for record, _ in (*dense, *words)}
        near = {record.id: cosine for record, cosine in dense}
        return self._scored(records, near, {record.id: score for record, score in words})

    def traversed(self, query: Query, vector: Vector) -> list[FoundSummary]:
        """The best of the top layer, of their children, and so on down to the chunks; best first."""
        words = self._index.worded(KIND, query.text, OVERSAMPLE * self._wanted, self._live)
        worded = {record.id: score for record, score in words}
        passed: dict[str, FoundSummary] = {}
        looked_at = self._top()
        while looked_at:
            stored = self._index.side(KIND).vectors.vectors(list(looked_at))
            near = dict(zip(stored, cosines(vector, list(stored.values())), strict=True))
            below = {id: score for id, score in worded.items() if id in looked_at}
            chosen = self._scored(looked_at, near, below)[: max(1, self._wanted // 2)]
            passed |= {one.record.id: one for one in chosen}
            children = (child for one in chosen for child in _children_of(one.record))
            looked_at = {id: self._live.by_id[id] for id in children if id in self._live.by_id}
        return sorted(passed.values(), key=_order)

    def _top(self) -> dict[str, Record]:
        below = {child for record in self._live.by_id.values() for child in _children_of(record)}
        return {id: record for id, record in self._live.by_id.items() if id not in below}

    def _scored(
        self, records: Mapping[str, Record], near: Mapping[str, float], words: Mapping[str, float]
    ) -> list[FoundSummary]:
        dense, most = min_max(near), max(words.values(), default=1.0)
        found = (
            FoundSummary(
                record, self._share * dense.get(id, 0.0) + (1 - self._share) * words.get(id, 0.0) / most
            )
            for id, record in records.items()
        )
        return sorted((one for one in found if one.relevance > 0), key=_order)


def _order(found: FoundSummary) -> tuple[float, str]:
    return -found.relevance, found.record.id


def _children_of(record: Record) -> Sequence[str]:
    return cast(Sequence[str], record.data["children"])


DEPTH = 60
"""Best chunks of the hybrid search whose own relevance is known by it."""
BELOW = 20
"""Chunks of each summary that are looked at in addition to those: the most telling ones."""


class Lifting:
    """Fuses what the summaries say of chunks with what the chunks say themselves."""

    depth = DEPTH

    def __init__(self, weight: float) -> None:
        """`weight` is the share of the summaries."""
        self._weight = weight

    def below(self, found: Sequence[FoundSummary], hits: Sequence[ScoredChunk]) -> list[str]:
        """Ids of chunks below the summaries that are not among the hits."""
        known = {hit.chunk.id for hit in hits}
        ids = dict.fromkeys(id for one in found for id in one.record.sources[:BELOW])
        return [id for id in ids if id not in known]

    def lifted(
        self,
        hits: Sequence[ScoredChunk],
        found: Sequence[FoundSummary],
        others: Mapping[str, Chunk],
        near: Mapping[str, Vector],
        vector: Vector,
    ) -> list[ScoredChunk]:
        """Best first, scores in [0, 1]: the hits, and `others` with their vectors `near`."""
        own = [*hits, *_guessed(hits, others, near, vector)]
        best = max((hit.score for hit in own), default=0.0) or 1.0
        above: dict[str, FoundSummary] = {}
        for one in reversed(found):  # the most relevant one is written last
            above |= dict.fromkeys(one.record.sources, one)
        made = [self._fused(hit, hit.score / best, above.get(hit.chunk.id)) for hit in own]
        return ranked(made, len(made))

    def _fused(self, hit: ScoredChunk, own: float, above: FoundSummary | None) -> ScoredChunk:
        # What is irrelevant itself is not made relevant by its surroundings: a product, not a sum.
        lift = own * above.relevance if above else 0.0
        score = (1 - self._weight) * hit.score + self._weight * lift
        details = {**hit.scores, "summary": round(above.relevance, 4)} if above else hit.scores
        fused = ScoredChunk(hit.chunk, min(1.0, score), details)
        if above is None:
            return fused
        record = above.record
        return with_context(
            fused, record.text, f"summary of {record.title or 'a cluster'} (layer {above.layer})"
        )


def _guessed(
    hits: Sequence[ScoredChunk], others: Mapping[str, Chunk], near: Mapping[str, Vector], vector: Vector
) -> list[ScoredChunk]:
    """Chunks that the hybrid search did not name among its best: they come after those, by their cosines."""
    ids = [id for id in others if id in near]
    similar = dict(zip(ids, cosines(vector, [near[id] for id in ids]), strict=True))
    last = min((hit.score for hit in hits), default=1.0)
    nearest = max([*similar.values(), *(hit.scores.get("dense", 0.0) for hit in hits)], default=0.0) or 1.0
    return [
        ScoredChunk(others[id], last * max(0.0, cosine) / nearest, {"dense": round(cosine, 4)})
        for id, cosine in similar.items()
    ]


def derive(kit: Kit, options: RaptorOptions) -> Artefact:
    """The tree. Raises ModelError, IndexFailure, BuildStopped."""
    from server.retrieval.published.raptor.build import (
        Build,  # a process that only searches needs no clustering
    )

    return Build(kit, options).artefact()


class RaptorSearch:
    """Lifts the chunks of hybrid search by the summaries above them."""

    def __init__(self, index: DerivedIndex[RaptorOptions]) -> None:
        self._index = index
        self._parts = index.parts

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Best first. Raises ModelError, IndexFailure."""
        lifting = Lifting(self._index.options.weight)
        hits = self._index.hybrid.retrieve(query, max(limit, lifting.depth))
        if not live.by_id:
            return hits[:limit]
        vector = self._parts.embedder.embed([query.searched_text])[0]
        search = SummarySearch(self._index, live, reads(self._parts.embedder, query.language))
        collapsed = self._index.options.mode == "collapsed"
        found = search.collapsed(query, vector) if collapsed else search.traversed(query, vector)
        below = lifting.below(found[: self._index.options.nodes], hits)
        near = self._parts.vectors.vectors(below)
        known = self._parts.chunks.load(below)
        lifted = lifting.lifted(hits, found, known, near, vector)
        return self._index.hybrid.finish(query, lifted[:limit])


RAPTOR = derived_kind("raptor", RaptorOptions, derive, RaptorSearch)
