"""Postings in blocks of bytes, and BM25 over them: pure functions on numpy arrays.

Chunks have numbers from 0; `BLOCK` of them share one piece of bytes for each token, so that a
token of 100,000 chunks is read in 13 pieces and scored without a loop over chunks.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

BLOCK = 8192
K1 = 1.5
B = 0.75

POSTING = np.dtype([("place", "<u2"), ("weight", "<u2")])
"""Place of the chunk in its block, and how much the token weighs in it."""
LENGTH = np.dtype("<u2")
MOST = 65_535

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Weights = NDArray[np.uint16]


def encode(found: Sequence[int]) -> bytes:
    """Postings of one token in one block, each given as `place | weight << 16`.

    Called for thousands of short lists, where numpy is slower than this.
    """
    packed = array("I", found)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


class Lengths:
    """Length in tokens of every chunk by its number; 0 where the chunk is gone."""

    def __init__(self, blocks: Mapping[int, bytes]) -> None:
        self.blocks = sorted(blocks)
        self._first = {block: at * BLOCK for at, block in enumerate(self.blocks)}
        data = b"".join(blocks[block].ljust(BLOCK * 2, b"\0") for block in self.blocks)
        values = np.frombuffer(data, LENGTH).astype(np.float32)
        self.size = len(values)
        self.count = int(np.count_nonzero(values))
        mean = float(values.sum()) / self.count if self.count else 1.0
        self.slack = np.float32(K1) * (np.float32(1 - B) + np.float32(B / mean) * values)
        """BM25's measure of each chunk's length."""
        self._alive = values > 0
        # Full blocks whose chunks all live, as most do, need no look at each of their postings. One that
        # is not full may have grown since its lengths were read.
        self._whole = {
            block
            for block, lengths in blocks.items()
            if len(lengths) == BLOCK * 2 and np.frombuffer(lengths, LENGTH).all()
        }

    def number(self, at: int) -> int:
        """Chunk number of a place in `slack`."""
        return self.blocks[at // BLOCK] * BLOCK + at % BLOCK

    def postings(self, pieces: Iterable[tuple[int, bytes]]) -> tuple[Numbers, Weights]:
        """Places in `slack` and weights of the living chunks in one token's pieces."""
        places, weights = [], []
        for block, data in pieces:
            if block not in self._first:  # made since the lengths were read
                continue
            found = np.frombuffer(data, POSTING)
            at = found["place"] + np.int32(self._first[block])
            alive = slice(None) if block in self._whole else self._alive[at]
            places.append(at[alive])
            weights.append(found["weight"][alive])
        if not places:
            return np.empty(0, np.int32), np.empty(0, LENGTH)
        return np.concatenate(places), np.concatenate(weights)


def bm25(lengths: Lengths, tokens: Iterable[tuple[Numbers, Weights]]) -> Floats:
    """Score of every chunk, by its place in `lengths.slack`, for tokens given by their postings."""
    scores = np.zeros(lengths.size, np.float32)
    for places, weights in tokens:
        rarity = log(1 + (lengths.count - len(places) + 0.5) / (len(places) + 0.5))
        found = weights.astype(np.float32)
        scores[places] += found * np.float32(rarity * (K1 + 1)) / (found + lengths.slack[places])
    return scores


def best(scores: Floats, limit: int) -> list[tuple[int, float]]:
    """(place, score > 0), best first, the earlier of equals first."""
    found = np.flatnonzero(scores > 0)
    if len(found) > limit:
        lowest = np.partition(scores[found], len(found) - limit)[len(found) - limit]
        found = found[scores[found] >= lowest]
    order = np.argsort(-scores[found], kind="stable")[:limit]
    return [(int(at), float(scores[at])) for at in found[order]]
