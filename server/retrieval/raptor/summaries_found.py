"""Which summaries a question is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from server.domain.derived import Record
from server.domain.protocols import Vector
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import SideIndexes
from server.retrieval.parts import cosines
from server.retrieval.raptor.options import KIND, RaptorOptions


@dataclass(frozen=True, slots=True)
class Found:
    """A summary that the question may be about."""

    record: Record
    relevance: float
    """In [0, 1]; comparable within one search."""

    @property
    def layer(self) -> int:
        return cast(int, self.record.data["layer"])


class Searched(Protocol):
    """What is searched: a DerivedStrategy."""

    options: RaptorOptions

    def side(self, kind: str) -> SideIndexes: ...

    def nearest(
        self, kind: str, vector: Vector, limit: int, live: Artefact
    ) -> list[tuple[Record, float]]: ...

    def worded(self, kind: str, text: str, limit: int, live: Artefact) -> list[tuple[Record, float]]: ...


class SummarySearch:
    """One question's search among the summaries of a state.

    Summaries and chunks are measured by the same rule: a summary counts as far as it is nearer to the question
    than the chunks are that would be read anyway. So a question that some sentence answers finds no summary.
    """

    def __init__(self, index: Searched, live: Artefact, nearest_chunks: Sequence[float]) -> None:
        """`nearest_chunks` are the cosines of the best chunks, best first; [] where the embedder cannot read
        the question, and words have to do."""
        self._index = index
        self._live = live
        self._chunks = nearest_chunks[: index.options.nodes]

    def collapsed(self, query: Query, vector: Vector) -> list[Found]:
        """The best of all layers."""
        wanted = self._index.options.nodes
        if not self._chunks:
            return self._by_words(query, wanted)
        return self._nearer(self._index.nearest(KIND, vector, wanted, self._live))

    def traversed(self, query: Query, vector: Vector) -> list[Found]:
        """The best of the top layer, of their children, and so on down to the chunks."""
        if not self._chunks:
            return self._by_words(query, self._index.options.nodes)
        wanted = max(1, self._index.options.nodes // 2)
        passed: dict[str, float] = {}
        looked_at = self._top()
        while looked_at:
            stored = self._index.side(KIND).vectors.vectors(sorted(looked_at))
            near = zip(stored, cosines(vector, list(stored.values())), strict=True)
            chosen = dict(sorted(near, key=lambda pair: (-pair[1], pair[0]))[:wanted])
            passed |= chosen
            looked_at = {child for id in chosen for child in _children_of(self._live.by_id[id])}
            looked_at = {id for id in looked_at if id in self._live.by_id}
        return self._nearer([(self._live.by_id[id], cosine) for id, cosine in passed.items()])

    def _top(self) -> set[str]:
        below = {child for record in self._live.by_id.values() for child in _children_of(record)}
        return set(self._live.by_id) - below

    def _nearer(self, near: Sequence[tuple[Record, float]]) -> list[Found]:
        last = self._chunks[-1]
        best = max([self._chunks[0], *(cosine for _, cosine in near)])
        found = [Found(record, (cosine - last) / (best - last)) for record, cosine in near if cosine > last]
        return sorted(found, key=lambda one: (-one.relevance, one.record.id))

    def _by_words(self, query: Query, wanted: int) -> list[Found]:
        matched = self._index.worded(KIND, query.text, wanted, self._live)
        best = max((score for _, score in matched), default=1.0)
        return [Found(record, score / best) for record, score in matched]


def _children_of(record: Record) -> Sequence[str]:
    return cast(Sequence[str], record.data["children"])
