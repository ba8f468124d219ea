"""From summaries to chunks: each chunk below a summary that was found gets a share of its relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import Vector
from server.retrieval.derived.strategy import with_context
from server.retrieval.parts import cosines, ranked
from server.retrieval.raptor.summaries_found import Found

DEPTH = 60
"""Best chunks of the hybrid search whose own relevance is known by it."""
BELOW = 20
"""Chunks of each summary that are looked at beside those: the most telling ones."""


class Lifting:
    """Fuses what the summaries say of chunks with what the chunks say themselves."""

    depth = DEPTH

    def __init__(self, weight: float) -> None:
        """`weight` is the share of the summaries."""
        self._weight = weight

    def below(self, found: Sequence[Found], hits: Sequence[ScoredChunk]) -> list[str]:
        """Ids of chunks below the summaries that are not among the hits."""
        known = {hit.chunk.id for hit in hits}
        ids = dict.fromkeys(id for one in found for id in one.record.sources[:BELOW])
        return [id for id in ids if id not in known]

    def lifted(
        self,
        hits: Sequence[ScoredChunk],
        found: Sequence[Found],
        others: Mapping[str, Chunk],
        near: Mapping[str, Vector],
        vector: Vector,
    ) -> list[ScoredChunk]:
        """Best first, scores in [0, 1]: the hits, and `others` with their vectors `near`."""
        own = [*hits, *_guessed(hits, others, near, vector)]
        best = max((hit.score for hit in own), default=0.0) or 1.0
        above: dict[str, Found] = {}
        for one in reversed(found):  # the most relevant one is written last
            above |= dict.fromkeys(one.record.sources, one)
        made = [self._fused(hit, hit.score / best, above.get(hit.chunk.id)) for hit in own]
        return ranked(made, len(made))

    def _fused(self, hit: ScoredChunk, own: float, above: Found | None) -> ScoredChunk:
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
