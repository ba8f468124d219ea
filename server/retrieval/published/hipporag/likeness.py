"""Which phrases are spelled alike: TF-IDF over two to four characters, cosine, sparse throughout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from server.domain.derived import Monitor, Unwatched
from server.retrieval.published.derived.build import Array

FEATURES = 1 << 18
BLOCK = 2_000
"""Phrases compared with all others at once."""
MOST_CANDIDATES = 4_000_000
"""Pairs of a block that are compared exactly; a block that has more is halved."""

_grams = HashingVectorizer(
    analyzer="char_wb",
    ngram_range=(2, 4),
    n_features=FEATURES,
    alternate_sign=False,
    norm=None,
    lowercase=False,
    dtype=np.float32,
)
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SpellingLikeness:
    """Vectors of length 1, one row for each of the phrases; a function of the phrases alone."""

    rows: csr_matrix
    weights: NDArray[np.float32]
    """How rare each feature is."""

    @classmethod
    def of(cls, phrases: Sequence[str]) -> SpellingLikeness:
        """Learns how rare each feature is."""
        counted: csr_matrix = (
            _grams.transform(phrases) if phrases else csr_matrix((0, FEATURES), dtype=np.float32)
        )
        seen = np.bincount(counted.indices, minlength=FEATURES)
        weights = (np.log((1 + len(phrases)) / (1 + seen)) + 1).astype(np.float32)
        return cls(_weighted(counted, weights), weights)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> SpellingLikeness:
        """Read back what `arrays` wrote."""
        return cls(stored_rows(arrays, name, FEATURES), arrays[f"{name}.weights"].astype(np.float32))

    def arrays(self, name: str) -> dict[str, Array]:
        """To be kept in an artefact."""
        return {
            f"{name}.data": self.rows.data.astype(np.float16),
            f"{name}.indices": self.rows.indices.astype(np.int32),
            f"{name}.indptr": self.rows.indptr.astype(np.int64),
            f"{name}.weights": self.weights,
        }

    def nearest(self, phrase: str, least: float, limit: int) -> list[tuple[int, float]]:
        """(number, cosine) of the phrases spelled most like this one, best first."""
        asked = _weighted(_grams.transform([phrase]), self.weights)
        columns = self._columns
        parts = [slice(columns.indptr[at], columns.indptr[at + 1]) for at in asked.indices]
        where = np.concatenate([columns.indices[part] for part in parts] or [np.zeros(0, np.int64)])
        given = [columns.data[part] * weight for part, weight in zip(parts, asked.data, strict=True)]
        near = np.bincount(where, np.concatenate(given or [np.zeros(0)]), self.rows.shape[0])
        found = np.flatnonzero(near >= least)
        best = found[np.lexsort((found, -near[found]))][:limit]
        return [(int(at), float(near[at])) for at in best]

    def alike(
        self, least: float, most: int, monitor: Monitor | None = None
    ) -> tuple[Integers, Integers, NDArray[np.float32]]:
        """Pairs (one, other, cosine) with one < other and a cosine of at least `least`, at most `most` for
        each phrase.

        Features are put in order, rarest first. Of a vector those are looked up whose removal would leave
        a rest shorter than `least`: two vectors at least so near share one of them.
        """
        telling = _telling(self.rows, least)
        columns = telling.T.tocsr()
        pairs = [
            self._exactly(ones, others, least)
            for ones, others in _candidates(telling, columns, monitor or Unwatched())
        ]
        one, other, near = (
            np.concatenate([pair[part] for pair in pairs] or [np.zeros(0)]) for part in range(3)
        )
        return _capped(one.astype(np.int64), other.astype(np.int64), near.astype(np.float32), most)

    @cached_property
    def _columns(self) -> csr_matrix:
        return self.rows.T.tocsr()

    def _exactly(self, ones: Integers, others: Integers, least: float) -> tuple[Array, Array, Array]:
        near = np.asarray(self.rows[ones].multiply(self.rows[others]).sum(axis=1), np.float32).ravel()
        kept = near >= least
        return ones[kept], others[kept], near[kept]


def stored_rows(arrays: Mapping[str, Array], name: str, columns: int) -> csr_matrix:
    """The matrix whose parts an artefact has under this name."""
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return csr_matrix((data.astype(np.float32), indices, indptr), shape=(len(indptr) - 1, columns))


def _weighted(counted: csr_matrix, weights: NDArray[np.float32]) -> csr_matrix:
    rows: csr_matrix = counted.multiply(weights[None, :]).tocsr()
    return normalize(rows).astype(np.float32) if rows.shape[0] else rows


def _telling(rows: csr_matrix, least: float) -> csr_matrix:
    """The rows without their most frequent features, as many as leave less than `least` of the length."""
    frequency = np.bincount(rows.indices, minlength=rows.shape[1])
    order = np.lexsort((np.arange(len(frequency)), frequency))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    by_rank = np.lexsort((-rank[rows.indices], row_of))  # in each row the most frequent first
    squares = rows.data[by_rank].astype(np.float64) ** 2
    summed = np.cumsum(squares)
    before = np.concatenate([[0.0], summed])[rows.indptr[:-1]]
    kept = by_rank[(summed - before[row_of]) >= least**2 - 1e-6]
    ones = np.ones(len(kept), np.float32)
    return csr_matrix((ones, (row_of[kept], rows.indices[kept])), shape=rows.shape)


def _candidates(
    telling: csr_matrix, columns: csr_matrix, monitor: Monitor
) -> Iterator[tuple[Integers, Integers]]:
    start, size = 0, BLOCK
    while start < telling.shape[0]:
        monitor.step("synonyms", start, telling.shape[0])
        shared = telling[start : start + size] @ columns
        if shared.nnz > MOST_CANDIDATES and size > 1:
            size //= 2
            continue
        shared = shared.tocoo()
        ones, others = shared.row.astype(np.int64) + start, shared.col.astype(np.int64)
        once = ones < others
        yield ones[once], others[once]
        start += size


def _capped(
    one: Integers, other: Integers, near: NDArray[np.float32], most: int
) -> tuple[Integers, Integers, NDArray[np.float32]]:
    """Keep the `most` nearest of each phrase; a pair stays if that holds for both."""
    order = np.lexsort((other, one, -near))
    one, other, near = one[order], other[order], near[order]
    ends = np.concatenate([one, other])
    by_phrase = np.lexsort((np.tile(np.arange(len(one)), 2), ends))  # the nearest of each phrase first
    starts = np.flatnonzero(np.diff(ends[by_phrase], prepend=-1))
    place = np.arange(len(ends)) - np.repeat(starts, np.diff(np.append(starts, len(ends))))
    kept = np.ones(len(one), bool)
    kept[by_phrase[place >= most] % max(len(one), 1)] = False
    return one[kept], other[kept], near[kept]
