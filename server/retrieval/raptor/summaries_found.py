"""Which summaries a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from server.domain.derived import Record
from server.domain.protocols import Vector
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import SideIndexes
from server.retrieval.fusion import min_max
from server.retrieval.parts import cosines
from server.retrieval.raptor.options import KIND, RaptorOptions

DEPTH = 3
"""Times as many as wanted are compared."""
WORDED = 200
"""Best summaries by words whose scores are known on the way down."""


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
    """One question's search among the summaries of a state."""

    def __init__(self, index: Searched, live: Artefact, dense_share: float) -> None:
        """`dense_share` of a summary's relevance is by vectors, the rest by words."""
        self._index = index
        self._live = live
        self._share = dense_share

    def collapsed(self, query: Query, vector: Vector) -> list[Found]:
        """The best of all layers."""
        wanted = self._index.options.nodes
        dense = self._index.nearest(KIND, vector, DEPTH * wanted, self._live)
        words = self._index.worded(KIND, query.text, DEPTH * wanted, self._live)
        records = {record.id: record for record, _ in (*dense, *words)}
        near = {record.id: score for record, score in dense}
        return self._best(records, near, {record.id: score for record, score in words}, wanted)

    def traversed(self, query: Query, vector: Vector) -> list[Found]:
        """The best of the top layer, of their children, and so on down to the chunks."""
        words = self._index.worded(KIND, query.text, WORDED, self._live)
        worded = {record.id: score for record, score in words}
        wanted = max(1, self._index.options.nodes // 2)
        found: dict[str, Found] = {}
        looked_at = self._top()
        while looked_at:
            stored = self._index.side(KIND).vectors.vectors(list(looked_at))
            near = dict(zip(stored, cosines(vector, list(stored.values())), strict=True))
            matched = {id: score for id, score in worded.items() if id in looked_at}
            chosen = self._best(looked_at, near, matched, wanted)
            found |= {one.record.id: one for one in chosen}
            looked_at = self._children([one.record for one in chosen])
        return sorted(found.values(), key=lambda one: (-one.relevance, one.record.id))

    def _top(self) -> dict[str, Record]:
        below = {child for record in self._live.by_id.values() for child in _children_of(record)}
        return {id: record for id, record in self._live.by_id.items() if id not in below}

    def _children(self, records: Sequence[Record]) -> dict[str, Record]:
        ids = (child for record in records for child in _children_of(record))
        return {id: self._live.by_id[id] for id in ids if id in self._live.by_id}

    def _best(
        self,
        records: Mapping[str, Record],
        near: Mapping[str, float],
        words: Mapping[str, float],
        wanted: int,
    ) -> list[Found]:
        dense = min_max(near)
        most = max(words.values(), default=1.0)
        scored = [
            (self._share * dense.get(id, 0.0) + (1 - self._share) * words.get(id, 0.0) / most, id)
            for id in records
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        return [Found(records[id], relevance) for relevance, id in scored[:wanted] if relevance > 0]


def _children_of(record: Record) -> Sequence[str]:
    return cast(Sequence[str], record.data["children"])
