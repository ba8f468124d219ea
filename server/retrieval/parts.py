"""What every strategy is built from, and what dense and lexical search have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import (
    ChatModel,
    ChunkReader,
    Embedder,
    RelevanceModel,
    Vector,
    VectorIndex,
    WordIndex,
)
from server.domain.tuning import Tuning

Hit = tuple[str, float]


def cosines(vector: Vector, others: Sequence[Vector]) -> list[float]:
    """Cosine of `vector` with each of the others; all of length 1."""
    if not others:
        return []
    similar: list[float] = (np.asarray(others, np.float32) @ np.asarray(vector, np.float32)).tolist()
    return similar


@dataclass(frozen=True, slots=True)
class Parts:
    """The indexes and models of one site. Strategies share them, so that nothing is stored twice."""

    embedder: Embedder
    vectors: VectorIndex
    words: WordIndex
    chunks: ChunkReader
    on_failure: Callable[[str, str], None] = lambda kind, message: None
    """Told when one side of a search failed and the other answered alone."""
    tuning: Tuning = field(default_factory=Tuning)
    chat_model: ChatModel | None = None
    """For reordering what was found, where the tuning asks for it."""
    relevance_model: RelevanceModel | None = None


def search_live(
    search: Callable[[int], list[Hit]], chunks: ChunkReader, limit: int
) -> list[tuple[Chunk, float]]:
    """The best `limit` hits whose chunk is live.

    An index may hold chunks of a generation that is being built or was just replaced, so more is
    asked for than needed, and still more when the first reply held too few live ones.
    """
    wanted = limit + limit // 2 + 4
    while True:
        hits = search(wanted)
        live = chunks.load([chunk_id for chunk_id, _ in hits])
        found = [(live[chunk_id], score) for chunk_id, score in hits if chunk_id in live]
        if len(found) >= limit or len(hits) < wanted:
            return found[:limit]
        wanted *= 4


def ranked(scored: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
    """Best first; equal scores in page order, so that a result never depends on chance."""
    return sorted(scored, key=lambda hit: (-hit.score, hit.chunk.url, hit.chunk.position))[:limit]
