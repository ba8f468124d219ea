"""The parts that strategies are built from, and helpers that dense and lexical search share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, Embedder, RelevanceModel, Vector, VectorIndex
from server.domain.spending import Spending
from server.indexes.words import SqlWordIndex
from server.settings.tuning import Tuning
from server.storage.content.derived import DerivedStore, ModelReplies
from server.storage.content.reader import ContentReader

T = TypeVar("T")
Hit = tuple[str, float]


def cosines(vector: Vector, others: Sequence[Vector]) -> list[float]:
    """Return the cosine of `vector` with each of the others. All vectors have length 1."""
    if not others:
        return []
    similar: list[float] = (np.asarray(others, np.float32) @ np.asarray(vector, np.float32)).tolist()
    return similar


def stored_cosines(index: VectorIndex, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine of `vector` with that of each of these records that has one, by id."""
    stored = index.vectors(ids)
    return dict(zip(stored, cosines(vector, list(stored.values())), strict=True))


@dataclass(frozen=True, slots=True)
class SideIndexes:
    """Vectors and words of one kind of records, in addition to those of the chunks."""

    vectors: VectorIndex
    words: SqlWordIndex


@dataclass(frozen=True, slots=True)
class Deriving:
    """Parts for strategies that derive indexes from the chunks."""

    indexes: DerivedStore
    side: Callable[[str], SideIndexes]
    """Vectors and words of one kind of records, by name."""
    replies: ModelReplies | None = None
    """Where what models said is kept; None keeps nothing."""
    estimate_tokens: Callable[[str], int] = len
    price: tuple[float, float] = (0.0, 0.0)
    """Price of the chat model: money per million tokens sent, and received."""
    charge: Callable[[], Spending] = lambda: Spending("")
    """Returns the Spending that one model call is charged to."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Indexes and models of one site. Strategies share them, so that nothing is stored twice."""

    embedder: Embedder
    vectors: VectorIndex
    words: SqlWordIndex
    chunks: ContentReader
    on_failure: Callable[[str, str], None] = lambda kind, message: None
    """Called when one side of a search failed and only the other one was used."""
    tuning: Tuning = field(default_factory=Tuning)
    chat_model: ChatModel | None = None
    """Reranks results if the tuning says so, and derives texts."""
    relevance_model: RelevanceModel | None = None
    deriving: Deriving | None = None
    """Needed by strategies that derive indexes."""
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """(strategy that measured best, reason) by kind of question."""


def in_turn(lists: Sequence[Sequence[T]]) -> Iterator[T]:
    """The first of each, then the second of each, and so on."""
    for place in range(max(map(len, lists), default=0)):
        for one in lists:
            if place < len(one):
                yield one[place]


def search_live(
    search: Callable[[int], list[Hit]],
    load: Callable[[list[str]], Mapping[str, T]],
    limit: int,
    any_live: Callable[[], object] = lambda: True,
) -> list[tuple[T, float]]:
    """Return the best `limit` hits that are live, with what `load` returns for their ids: live chunks, or
    records of the live state.

    An index may contain those of a generation that is being built or was just replaced. Therefore more
    hits than needed are requested, and even more if too few of them are live. During a site's first crawl
    nothing is live: then `any_live` is false.
    """
    wanted = limit + limit // 2 + 4
    while True:
        hits = search(wanted)
        live = load([id for id, _ in hits])
        found = [(live[id], score) for id, score in hits if id in live]
        if len(found) >= limit or len(hits) < wanted or not (found or any_live()):
            return found[:limit]
        wanted *= 4


def ranked(scored: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
    """Return the best `limit`, best first. Equal scores are in page order, so that results are stable."""
    order = [(-hit.score, hit.chunk.url, hit.chunk.position, place) for place, hit in enumerate(scored)]
    order.sort()
    return [scored[place] for *_, place in order[:limit]]
