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

DEPTH = 10
"""Times as many summaries as wanted are compared."""
DENSE_SHARE = 0.6
"""Of the vectors in how relevant a summary is; words have the rest."""


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

    def __init__(self, index: Searched, live: Artefact, readable: bool) -> None:
        """`readable` says whether the embedder reads the question's language; otherwise words have to do."""
        self._index = index
        self._live = live
        self._wanted = index.options.nodes
        self._share = DENSE_SHARE if readable else 0.0

    def collapsed(self, query: Query, vector: Vector) -> list[Found]:
        """Summaries of all layers, best first: those wanted, and more, so that every chunk that may come up
        is measured by the summaries above it and not by whether one of them is among the best."""
        dense = self._index.nearest(KIND, vector, DEPTH * self._wanted, self._live)
        words = self._index.worded(KIND, query.text, DEPTH * self._wanted, self._live)
        records = {record.id: record for record, _ in (*dense, *words)}
        near = {record.id: cosine for record, cosine in dense}
        return self._scored(records, near, {record.id: score for record, score in words})

    def traversed(self, query: Query, vector: Vector) -> list[Found]:
        """The best of the top layer, of their children, and so on down to the chunks; best first."""
        words = self._index.worded(KIND, query.text, DEPTH * self._wanted, self._live)
        worded = {record.id: score for record, score in words}
        passed: dict[str, Found] = {}
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
    ) -> list[Found]:
        dense, most = min_max(near), max(words.values(), default=1.0)
        found = (
            Found(record, self._share * dense.get(id, 0.0) + (1 - self._share) * words.get(id, 0.0) / most)
            for id, record in records.items()
        )
        return sorted((one for one in found if one.relevance > 0), key=_order)


def _order(found: Found) -> tuple[float, str]:
    return -found.relevance, found.record.id


def _children_of(record: Record) -> Sequence[str]:
    return cast(Sequence[str], record.data["children"])
