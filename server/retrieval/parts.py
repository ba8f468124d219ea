"""What every strategy is built from, and what dense and lexical search have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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
from server.domain.spending import Spending
from server.domain.tuning import Tuning
from server.storage.content.derived import DerivedStore, ModelReplies

T = TypeVar("T")
Hit = tuple[str, float]


def cosines(vector: Vector, others: Sequence[Vector]) -> list[float]:
    """Cosine of `vector` with each of the others; all of length 1."""
    if not others:
        return []
    similar: list[float] = (np.asarray(others, np.float32) @ np.asarray(vector, np.float32)).tolist()
    return similar


@dataclass(frozen=True, slots=True)
class SideIndexes:
    """Vectors and words of one kind of records, in addition to those of the chunks."""

    vectors: VectorIndex
    words: WordIndex


@dataclass(frozen=True, slots=True)
class Deriving:
    """What strategies need that derive something from the chunks."""

    indexes: DerivedStore
    side: Callable[[str], SideIndexes]
    """Vectors and words of one kind of records, by name."""
    replies: ModelReplies | None = None
    """Where what models said is kept; None keeps nothing."""
    estimate_tokens: Callable[[str], int] = len
    price: tuple[float, float] = (0.0, 0.0)
    """Price of the chat model: money per million tokens sent, and received."""
    charge: Callable[[], Spending] = lambda: Spending("")
    """Makes what one call of the model counts for."""


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
    """For reordering what was found, where the tuning asks for it, and for deriving texts."""
    relevance_model: RelevanceModel | None = None
    deriving: Deriving | None = None
    """Needed by the strategies that derive something."""
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Kind of question -> the strategy that measured best on it, and what showed that."""


def reads(embedder: Embedder, language: str) -> bool:
    """Return whether the embedder reads this language; an unknown one counts as read."""
    return not embedder.languages or not language or language in embedder.languages


def in_turn(lists: Sequence[Sequence[T]]) -> Iterator[T]:
    """The first of each, then the second of each, and so on."""
    for place in range(max(map(len, lists), default=0)):
        yield from (one[place] for one in lists if place < len(one))


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
    order = [(-hit.score, hit.chunk.url, hit.chunk.position, place) for place, hit in enumerate(scored)]
    order.sort()
    return [scored[place] for *_, place in order[:limit]]
