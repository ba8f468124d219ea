"""Retrieval over a tree of summaries.

After Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval", ICLR 2024.
Two things differ: chunks are always what is returned, with the summaries as context; and hybrid search
keeps a share of the score, so that a question about one sentence is answered as well as without the tree.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record
from server.domain.protocols import Vector
from server.domain.question import Query
from server.retrieval.fusion import min_max
from server.retrieval.parts import ranked, stored_cosines
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedSearch, derived_kind
from server.retrieval.published.raptor.options import KIND, RaptorOptions

OVERSAMPLE = 10
"""Times as many summaries as wanted are compared."""
DENSE_SHARE = 0.6
"""Share of the vectors in the relevance of a summary; words get the rest."""


DEPTH = 60
"""Best chunks of the hybrid search whose own relevance is known by it."""
BELOW = 20
"""Chunks of each summary that are looked at in addition to those: the most telling ones."""

Found = tuple[Record, float]
"""A summary that the question may be about, and its relevance in [0, 1], comparable within one search."""


def derive(kit: Kit, options: RaptorOptions) -> Artefact:
    """The tree. Raises ModelError, IndexFailure, BuildStopped."""
    from server.retrieval.published.raptor.build import build  # a search needs no clustering

    return build(kit, options)


class RaptorSearch(DerivedSearch[RaptorOptions]):
    """Lifts the chunks of hybrid search by the summaries above them."""

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Best first. Raises ModelError, IndexFailure."""
        hits = self._index.hybrid.retrieve(query, max(limit, DEPTH))
        if not live.by_id:
            return hits[:limit]
        vector = self._vector(query)
        # Where the embedder does not read the question, the words have to do.
        share = DENSE_SHARE if self._is_read(query.language) else 0.0
        worded = self._index.worded(KIND, query.text, OVERSAMPLE * self._options.nodes, live)
        words = {record.id: score for record, score in worded}
        collapsed = self._options.mode == "collapsed"
        searching = self._collapsed if collapsed else self._traversed
        found = searching(vector, words, share, live)
        below = _below(found[: self._options.nodes], hits)
        near = stored_cosines(self._parts.vectors, vector, below)
        own = [*hits, *_guessed(hits, self._parts.chunks.load(below), near)]
        return self._index.hybrid.finish(query, self._lifted(own, found)[:limit])

    def _collapsed(
        self, vector: Vector, words: Mapping[str, float], share: float, live: Artefact
    ) -> list[Found]:
        """Summaries of all layers, best first: those wanted, and more, so that every chunk that may come up
        is measured by the summaries above it and not by whether one of them is among the best."""
        dense = self._index.nearest(KIND, vector, OVERSAMPLE * self._options.nodes, live)
        near = {record.id: cosine for record, cosine in dense}
        return _scored({id: live.by_id[id] for id in (*near, *words)}, near, words, share)

    def _traversed(
        self, vector: Vector, words: Mapping[str, float], share: float, live: Artefact
    ) -> list[Found]:
        """The best of the top layer, of their children, and so on down to the chunks; best first."""
        passed: dict[str, Found] = {}
        below = {child for record in live.by_id.values() for child in _children_of(record)}
        looked_at = {id: record for id, record in live.by_id.items() if id not in below}
        while looked_at:
            near = stored_cosines(self._index.side(KIND).vectors, vector, list(looked_at))
            worded = {id: score for id, score in words.items() if id in looked_at}
            chosen = _scored(looked_at, near, worded, share)[: max(1, self._options.nodes // 2)]
            passed |= {record.id: (record, relevance) for record, relevance in chosen}
            children = (child for record, _ in chosen for child in _children_of(record))
            looked_at = {id: live.by_id[id] for id in children if id in live.by_id}
        return sorted(passed.values(), key=_order)

    def _lifted(self, own: Sequence[ScoredChunk], found: Sequence[Found]) -> list[ScoredChunk]:
        """Best first, scores in [0, 1]: what the summaries say of chunks joins what these say themselves."""
        best = max((hit.score for hit in own), default=0.0) or 1.0
        above: dict[str, Found] = {}
        for one in reversed(found):  # the most relevant one is written last
            above |= dict.fromkeys(one[0].sources, one)
        made = [self._fused(hit, hit.score / best, above.get(hit.chunk.id)) for hit in own]
        return ranked(made, len(made))

    def _fused(self, hit: ScoredChunk, own: float, above: Found | None) -> ScoredChunk:
        weight = self._options.weight
        if above is None:
            return ScoredChunk(hit.chunk, min(1.0, (1 - weight) * hit.score), hit.scores)
        record, relevance = above
        # What is irrelevant itself is not made relevant by its surroundings: a product, not a sum.
        score = min(1.0, (1 - weight) * hit.score + weight * own * relevance)
        scores = {**hit.scores, "summary": round(relevance, 4)}
        why = f"summary of {record.title or 'a cluster'} (layer {record.data['layer']})"
        return ScoredChunk(hit.chunk, score, scores, record.text, why)


def _scored(
    records: Mapping[str, Record], near: Mapping[str, float], words: Mapping[str, float], share: float
) -> list[Found]:
    """Those with some relevance, best first; `share` is that of the vectors."""
    dense, most = min_max(near), max(words.values(), default=1.0)
    found = [
        (record, share * dense.get(id, 0.0) + (1 - share) * words.get(id, 0.0) / most)
        for id, record in records.items()
    ]
    return sorted((one for one in found if one[1] > 0), key=_order)


def _order(found: Found) -> tuple[float, str]:
    return -found[1], found[0].id


def _children_of(record: Record) -> Sequence[str]:
    return cast(Sequence[str], record.data["children"])


def _below(found: Sequence[Found], hits: Sequence[ScoredChunk]) -> list[str]:
    """Ids of chunks below the summaries that are not among the hits."""
    known = {hit.chunk.id for hit in hits}
    ids = dict.fromkeys(id for record, _ in found for id in record.sources[:BELOW])
    return [id for id in ids if id not in known]


def _guessed(
    hits: Sequence[ScoredChunk], others: Mapping[str, Chunk], near: Mapping[str, float]
) -> list[ScoredChunk]:
    """Chunks that the hybrid search did not name among its best: they come after those, by their cosines."""
    similar = {id: near[id] for id in others if id in near}
    last = min((hit.score for hit in hits), default=1.0)
    nearest = max([*similar.values(), *(hit.scores.get("dense", 0.0) for hit in hits)], default=0.0) or 1.0
    return [
        ScoredChunk(others[id], last * max(0.0, cosine) / nearest, {"dense": round(cosine, 4)})
        for id, cosine in similar.items()
    ]


RAPTOR = derived_kind("raptor", RaptorOptions, derive, RaptorSearch, version=2)
