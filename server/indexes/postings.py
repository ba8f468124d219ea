"""Postings in blocks of bytes, and BM25 over them: pure functions on numpy arrays.

Chunks are numbered from 0. Each token has one piece of bytes per `BLOCK` chunks, so that a token
in 100,000 chunks is read in 13 pieces and scored without a loop over chunks.

What a token adds to the score of a chunk depends only on the index, so it is computed once, when the postings
are read. A search adds these numbers up. Most of its time used to go into picking the best of all chunks;
the chunks of one token alone show how high a score must be.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
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
Postings = tuple[NDArray[np.int32], Floats]
"""Chunks that contain a token, as positions in `Lengths.slack`, and what the token adds to their scores."""


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

    def numbers(self, places: Sequence[int]) -> list[int]:
        """Return the chunk numbers of positions in `slack`."""
        at = np.array(places, np.int64)
        numbers: list[int] = (np.array(self.blocks, np.int64)[at // BLOCK] * BLOCK + at % BLOCK).tolist()
        return numbers

    def postings(self, pieces: Sequence[tuple[int, bytes]]) -> Postings:
        """Return the existing chunks in one token's pieces."""
        # Other blocks were added after the lengths were read.
        known = [piece for piece in pieces if piece[0] in self._first]
        found = np.frombuffer(b"".join(data for _, data in known), POSTING)
        starts = np.array([self._first[block] for block, _ in known], np.int32)
        sizes = [len(data) // POSTING.itemsize for _, data in known]
        places = found["place"] + np.repeat(starts, sizes)
        weights = found["weight"].astype(np.float32)
        if not all(block in self._whole for block, _ in known):
            alive = self._alive[places]
            places, weights = places[alive], weights[alive]
        rarity = log(1 + (self.count - len(places) + 0.5) / (len(places) + 0.5))
        return places, weights * np.float32(rarity * (K1 + 1)) / (weights + self.slack[places])


def best(size: int, tokens: Sequence[Postings], limit: int) -> list[tuple[int, float]]:
    """Return (position, BM25 score > 0), best first; equal scores in order of position. `size` is the number
    of positions, and `tokens` has at least one token."""
    scores = np.zeros(size, np.float32)
    for places, gains in tokens:
        np.add.at(scores, places, gains)  # twice as fast as `scores[places] += gains`
    enough = [places for places, _ in tokens if len(places) >= limit]
    if enough:
        # At least `limit` chunks of this token score as much as the lowest of its best.
        some = scores[min(enough, key=len)]
        found = np.flatnonzero(scores >= np.partition(some, -limit)[-limit])
    else:
        found = np.unique(np.concatenate([places for places, _ in tokens]))
    if len(found) > limit:
        found = found[scores[found] >= np.partition(scores[found], -limit)[-limit]]
    found = found[np.argsort(-scores[found], kind="stable")[:limit]]
    return list(zip(found.tolist(), scores[found].tolist(), strict=True))
