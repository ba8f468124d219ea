"""Searching chunks by their own vectors and words and, beside them, by those of what is derived of them.

The two indexes here stand where hybrid expects those of the chunks. So its fusion, features, earlier turns
and second looks hold for strategies that only add to what a chunk is found by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from server.domain.chunk import Chunk
from server.domain.derived import Record
from server.domain.protocols import Vector, VectorIndex, WordIndex
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.hybrid import HybridStrategy
from server.retrieval.parts import Hit, Parts

DEEPEST = 2
"""Of a chunk's records the best ones count, so not all of each need be found."""

Found = Sequence[tuple[Record, float]]


@dataclass(frozen=True)
class Layer:
    """Which chunks have records, and how deep those are searched."""

    covered: frozenset[str]
    """Chunks with records; of others their own score counts alone."""
    depth: int
    """So many records are asked for in place of one chunk."""

    @classmethod
    def of(cls, records: Sequence[Record]) -> Layer:
        """That of all records of a kind."""
        covered = frozenset(source for record in records for source in record.sources)
        return cls(covered, min(DEEPEST, -(-len(records) // max(1, len(covered)))))

    def mixed(self, plain: Sequence[Hit], found: Found, share: float, limit: int) -> list[Hit]:
        """Weighted sum of both sides, best first.

        A chunk that one side did not find is at most as good there as the last that was found; it has
        nothing where the side gave less than it was asked for, which was all that it has.
        """
        one, other = dict(plain), by_chunk(found)
        least = min(one.values()) if one and len(plain) >= limit else 0.0
        least_other = min(other.values()) if other and len(found) >= limit * self.depth else 0.0
        scores = {}
        for id in dict.fromkeys((*one, *other)):
            own = one.get(id, least)
            best = other.get(id, least_other if id in self.covered else own)
            scores[id] = (1 - share) * own + share * best
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]


def by_chunk(found: Found) -> dict[str, float]:
    """Each source chunk with the score of its best record; `found` comes best first."""
    best: dict[str, float] = {}
    for record, score in found:
        for source in record.sources:
            best.setdefault(source, score)
    return best


class LayeredVectors:
    """Implements VectorIndex. A chunk's score is its cosine, and a share of that of its best record."""

    def __init__(
        self, plain: VectorIndex, nearest: Callable[[Vector, int], Found], share: float, layer: Layer
    ) -> None:
        """`nearest` searches the records; `share` of the score is theirs."""
        self._plain = plain
        self._nearest = nearest
        self._share = share
        self._layer = layer

    def search(self, vector: Vector, limit: int) -> list[Hit]:
        """(chunk id, score), best first, at most `limit`."""
        found = self._nearest(vector, limit * self._layer.depth)
        return self._layer.mixed(self._plain.search(vector, limit), found, self._share, limit)

    def add(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """Stores the chunks' own; records are stored when a derived index is built."""
        self._plain.add(chunks, vectors)

    def remove(self, ids: Sequence[str]) -> None:
        """Removes the chunks' own."""
        self._plain.remove(ids)

    def ids(self) -> set[str]:
        """Of the chunks."""
        return self._plain.ids()

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The chunks' own."""
        return self._plain.vectors(ids)

    def drop(self) -> None:
        """Removes the chunks' own."""
        self._plain.drop()


class LayeredWords:
    """Implements WordIndex. The same with BM25; frequencies are those of the chunks."""

    def __init__(
        self, plain: WordIndex, worded: Callable[[str, int], Found], share: float, layer: Layer
    ) -> None:
        """`worded` searches the records; `share` of the score is theirs."""
        self._plain = plain
        self._worded = worded
        self._share = share
        self._layer = layer

    def search(self, text: str, limit: int) -> list[Hit]:
        """(chunk id, score), best first, at most `limit`."""
        found = self._worded(text, limit * self._layer.depth)
        return self._layer.mixed(self._plain.search(text, limit), found, self._share, limit)

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Stores the chunks' own; records are stored when a derived index is built."""
        self._plain.add(chunks)

    def remove(self, ids: Sequence[str]) -> None:
        """Removes the chunks' own."""
        self._plain.remove(ids)

    def document_frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Among the chunks."""
        return self._plain.document_frequencies(tokens)

    def count(self) -> int:
        """Of the chunks."""
        return self._plain.count()

    def ids(self) -> set[str]:
        """Of the chunks."""
        return self._plain.ids()

    def drop(self) -> None:
        """Removes the chunks' own."""
        self._plain.drop()


class LayeredSearch:
    """Hybrid over the layered indexes of one kind of records, made anew when another state goes live."""

    def __init__(
        self, strategy: DerivedStrategy[Any], parts: Parts, kind: str, shares: tuple[float, float]
    ) -> None:
        """`shares` of the scores by vectors and by words are the records'."""
        self._strategy = strategy
        self._parts = parts
        self._kind = kind
        self._shares = shares
        self._made: tuple[Artefact, HybridStrategy] | None = None

    def of(self, live: Artefact) -> HybridStrategy:
        """The search of this state. What it tells as "dense" and "words" are the layered scores."""
        made = self._made
        if made is None or made[0] is not live:
            made = self._made = (live, HybridStrategy(self._layered(live)))
        return made[1]

    def _layered(self, live: Artefact) -> Parts:
        parts, (of_vectors, of_words) = self._parts, self._shares
        vectors, words = parts.vectors, parts.words
        layer = Layer.of(live.records.get(self._kind, ()))
        if of_vectors:
            nearest = partial(self._nearest, live)
            vectors = LayeredVectors(vectors, nearest, of_vectors, layer)
        if of_words:
            worded = partial(self._worded, live)
            words = LayeredWords(words, worded, of_words, layer)
        return replace(parts, vectors=vectors, words=words)

    def _nearest(self, live: Artefact, vector: Vector, limit: int) -> Found:
        return self._strategy.nearest(self._kind, vector, limit, live)

    def _worded(self, live: Artefact, text: str, limit: int) -> Found:
        return self._strategy.worded(self._kind, text, limit, live)
