"""The indexes of the chunks, as if they held the picked chunks only."""

from __future__ import annotations

from collections.abc import Sequence

from server.domain.chunk import Chunk
from server.domain.protocols import Vector, VectorIndex, WordIndex
from server.retrieval.parts import Hit, cosines

DEPTH = 1000
"""Chunks that the words are searched for at first; more where too few of them are picked ones."""


class PickedVectors:
    """Implements VectorIndex. Exact: the picked are few."""

    def __init__(self, whole: VectorIndex, picked: frozenset[str]) -> None:
        self._whole = whole
        self._picked = sorted(picked)

    def search(self, vector: Vector, limit: int) -> list[Hit]:
        """(chunk id, cosine), best first, at most `limit`."""
        stored = self._whole.vectors(self._picked)
        found = zip(stored, cosines(vector, list(stored.values())), strict=True)
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def add(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """To the whole."""
        self._whole.add(chunks, vectors)

    def remove(self, ids: Sequence[str]) -> None:
        """From the whole."""
        self._whole.remove(ids)

    def ids(self) -> set[str]:
        """The picked ones that are stored."""
        return set(self._whole.vectors(self._picked))

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Of any chunk."""
        return self._whole.vectors(ids)

    def drop(self) -> None:
        """The whole."""
        self._whole.drop()


class PickedWords:
    """Implements WordIndex. Scores and frequencies are those of the whole, as a word is rare on the site."""

    def __init__(self, whole: WordIndex, picked: frozenset[str]) -> None:
        self._whole = whole
        self._picked = picked

    def search(self, text: str, limit: int) -> list[Hit]:
        """(chunk id, BM25 score), best first, at most `limit`."""
        wanted, enough = DEPTH, min(limit, len(self._picked))
        while True:
            hits = self._whole.search(text, wanted)
            found = [hit for hit in hits if hit[0] in self._picked]
            if len(found) >= enough or len(hits) < wanted:
                return found[:limit]
            wanted *= 8

    def add(self, chunks: Sequence[Chunk]) -> None:
        """To the whole."""
        self._whole.add(chunks)

    def remove(self, ids: Sequence[str]) -> None:
        """From the whole."""
        self._whole.remove(ids)

    def document_frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Among all chunks."""
        return self._whole.document_frequencies(tokens)

    def count(self) -> int:
        """Of all chunks."""
        return self._whole.count()

    def ids(self) -> set[str]:
        """The picked ones that are stored."""
        return self._whole.ids() & self._picked

    def drop(self) -> None:
        """The whole."""
        self._whole.drop()
