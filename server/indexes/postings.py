"""Postings in blocks of bytes, and BM25 over them: pure functions on numpy arrays.

Chunks are numbered from 0. Each token has one piece of bytes per `BLOCK` chunks, so that a token
in 100,000 chunks is read in 13 pieces and scored without a loop over chunks.
"""

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
"""Position of the chunk in its block, and the token's weight in it."""
LENGTH = np.dtype("<u2")
MOST = 65_535

Floats = NDArray[np.float32]
Numbers = NDArray[np.int32]
Weights = NDArray[np.uint16]


def encode(found: Sequence[int]) -> bytes:
    """Encode the postings of one token in one block, each given as `place | weight << 16`.

    It is called for thousands of short lists, for which numpy is slower.
    """
    packed = array("I", found)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


class Lengths:
    """Length of every chunk in tokens, by chunk number; 0 for removed chunks."""

    def __init__(self, blocks: Mapping[int, bytes]) -> None:
        self.blocks = sorted(blocks)
        self._first = {block: at * BLOCK for at, block in enumerate(self.blocks)}
        data = b"".join(blocks[block].ljust(BLOCK * 2, b"\0") for block in self.blocks)
        values = np.frombuffer(data, LENGTH).astype(np.float32)
        self.size = len(values)
        self.count = int(np.count_nonzero(values))
        mean = float(values.sum()) / self.count if self.count else 1.0
        self.slack = np.float32(K1) * (np.float32(1 - B) + np.float32(B / mean) * values)
        """The length term of BM25 for each chunk."""
        self._alive = values > 0
        # Most blocks are full and have no removed chunks, so their postings need no filter. A block that
        # is not full may have grown since its lengths were read.
        self._whole = {
            block
            for block, lengths in blocks.items()
            if len(lengths) == BLOCK * 2 and np.frombuffer(lengths, LENGTH).all()
        }

    def number(self, at: int) -> int:
        """Return the chunk number of a position in `slack`."""
        return self.blocks[at // BLOCK] * BLOCK + at % BLOCK

    def postings(self, pieces: Iterable[tuple[int, bytes]]) -> tuple[Numbers, Weights]:
        """Return positions in `slack` and weights of the existing chunks in one token's pieces."""
        places, weights = [], []
        for block, data in pieces:
            if block not in self._first:  # added after the lengths were read
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
    """Return the score of every chunk, by position in `lengths.slack`; `tokens` are their postings."""
    scores = np.zeros(lengths.size, np.float32)
    for places, weights in tokens:
        rarity = log(1 + (lengths.count - len(places) + 0.5) / (len(places) + 0.5))
        found = weights.astype(np.float32)
        scores[places] += found * np.float32(rarity * (K1 + 1)) / (found + lengths.slack[places])
    return scores


def best(scores: Floats, limit: int) -> list[tuple[int, float]]:
    """Return (position, score > 0), best first; equal scores in order of position."""
    found = np.flatnonzero(scores > 0)
    if len(found) > limit:
        lowest = np.partition(scores[found], len(found) - limit)[len(found) - limit]
        found = found[scores[found] >= lowest]
    order = np.argsort(-scores[found], kind="stable")[:limit]
    return [(int(at), float(scores[at])) for at in found[order]]
