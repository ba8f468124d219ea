"""The words that a site writes, and which of them look like a given one.

Words are kept as they are written, not as stems: "replicaton" is one letter from "replication" and
far from its stem. They lie in one string for each block of chunks (server.indexes.postings), without
a duplicate in a block; the rows that a search compares are found by numpy, the distance itself is
rapidfuzz's optimal string alignment: a letter more, less, other or two of them swapped count one each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from server.indexes.tokens import letters_of
from server.languages.scripts import UNSPACED_CHARACTER, fold

SHORTEST, LONGEST = 3, 24
"""Words of fewer letters resemble too much, longer ones are no words."""
_BITS = np.uint64(64)


@lru_cache(maxsize=1 << 16)
def _line(word: str) -> str:
    """How a word is kept: as it is compared, and as it is written where that differs."""
    if not SHORTEST <= len(word) <= LONGEST or not word.isalpha() or UNSPACED_CHARACTER.search(word):
        return ""
    folded = fold(word)
    return folded if folded == word else f"{folded}\t{word}"


def written_words(text: str, language: str) -> set[str]:
    """The words of a text as `Vocabulary` keeps them: lower-case, letters only, parts of names too."""
    found = {_line(word) for word in letters_of(text, language)}
    found.discard("")
    return found


def pack(words: Iterable[str]) -> bytes:
    """Words of `written_words` as one value of the database."""
    return "\n".join(sorted(words)).encode("utf-8", "replace")


def unpack(data: bytes) -> set[str]:
    """What `pack` was given."""
    return set(data.decode("utf-8").split("\n")) - {""}


class Vocabulary:
    """The words of one block. Cannot change; threads share it."""

    def __init__(self, data: bytes) -> None:
        """`data` is of `pack`."""
        lines = data.decode("utf-8").split("\n") if data else []
        self._lines = lines
        self._shown = [line.partition("\t")[0] for line in lines] if b"\t" in data else lines
        self._lengths = np.fromiter(map(len, self._shown), np.uint8, len(lines))
        self._letters = _letters(self._shown, self._lengths)
        self._first = np.array([ord(word[0]) for word in self._shown], np.uint32)

    def __len__(self) -> int:
        return len(self._lines)

    def similar(self, word: str, most: int) -> list[tuple[str, int]]:
        """(word as it is written, distance) of all within `most` changes of a lower-case word.

        With more than one change the first letter must be right, as it is in nearly all typing errors.
        """
        if not self._lines:
            return []
        asked = fold(word)
        mask = _letters([asked], np.array([len(asked)], np.uint8))[0]
        differ = np.bitwise_count(self._letters ^ mask)
        near = (differ <= 2 * most) & (abs(self._lengths.astype(np.int16) - len(asked)) <= most)
        if most > 1:
            near &= self._first == ord(asked[0])
        rows = np.flatnonzero(near).tolist()
        compared = [self._shown[row] for row in rows]
        found = process.extract(asked, compared, scorer=OSA.distance, score_cutoff=most, limit=None)
        return [(self._lines[rows[at]].rpartition("\t")[2], int(distance)) for _, distance, at in found]

    def __contains__(self, word: str) -> bool:
        """Whether a lower-case word is written so, accents aside."""
        folded = fold(word)
        at = bisect_left(self._shown, folded)
        return at < len(self._shown) and self._shown[at] == folded


def _letters(words: list[str], lengths: np.ndarray) -> np.ndarray:
    """For each word the set of its letters in 64 bits: one change to a word changes two bits at most."""
    if not words:
        return np.empty(0, np.uint64)
    codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4").astype(np.uint64)
    starts = np.concatenate(([0], np.cumsum(lengths[:-1], dtype=np.int64)))
    return np.bitwise_or.reduceat(np.uint64(1) << (codes % _BITS), starts)
