"""The words of a site, with a search for similar words.

Words are kept as written, not as stems: "replicaton" is one letter from "replication" and far from its
stem. Each block of chunks (server.indexes.postings) has one string with each of its words once. numpy
selects the candidates of a search. The distance is rapidfuzz's optimal string alignment: an added, missing,
different or swapped letter counts 1.
"""

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA, Levenshtein

from server.indexes.tokens import letters_of
from server.languages.romanised import consonants, romanised, stem_sound
from server.languages.scripts import UNSPACED_CHARACTER, fold, script_of

SHORTEST, LONGEST = 3, 24
"""Shorter words resemble too many others, and longer strings are not words."""
_BITS = np.uint64(64)
_INITIALS = ("aeiouyhwj", "ckqszxg", "bvfpw", "lr", "mn", "td", "gj")
"""Letters that the same word may begin with in two languages."""
LONGER, SHORTER = 5, 3
"""By how many letters the word of another language may be longer or shorter."""
COGNATE = 0.8
"""Minimum similarity in sound of two words whose scripts have vowels, in [0, 1]."""
FEWEST_CONSONANTS = 3
_WITH_VOWELS = frozenset({"latin", "cyrillic", "greek"})
"""Scripts whose vowels are close enough to the sound to be compared."""


@lru_cache(maxsize=1 << 12)
def _line(word: str) -> str:
    """Return the stored form of a word: as compared, followed by the word as written if that differs."""
    if not SHORTEST <= len(word) <= LONGEST or not word.isalpha() or UNSPACED_CHARACTER.search(word):
        return ""
    folded = fold(word)
    return folded if folded == word else f"{folded}\t{word}"


def written_words(text: str, language: str) -> set[str]:
    """Return the words of a text in the form of `Vocabulary`: lower-case, letters only, parts of names."""
    found = {_line(word) for word in letters_of(text, language)}
    found.discard("")
    return found


def pack(words: Iterable[str]) -> bytes:
    """Encode words of `written_words` as one database value."""
    return "\n".join(sorted(words)).encode("utf-8", "replace")


def unpack(data: bytes) -> set[str]:
    """Decode a value of `pack`."""
    return set(data.decode("utf-8").split("\n")) - {""}


class Vocabulary:
    """Words of one block. Immutable, and shared by threads."""

    def __init__(self, data: bytes) -> None:
        """`data` is a value of `pack`."""
        lines = data.decode("utf-8").split("\n") if data else []
        self._lines = lines
        self._shown = [line.partition("\t")[0] for line in lines] if b"\t" in data else lines
        self._lengths = np.fromiter(map(len, self._shown), np.uint8, len(lines))
        self._letters = _letters(self._shown, self._lengths)
        self._first = np.array([ord(word[0]) for word in self._shown], np.uint32)

    def similar(self, word: str, most: int) -> list[tuple[str, int]]:
        """Return (word as written, distance) for all words within `most` changes of a lower-case word.

        With more than one change the first letter must match, as in nearly all typing errors.
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

    def cognates(self, word: str) -> list[tuple[str, float]]:
        """Return (word as written, similarity in [0, 1]) for the words that a lower-case word of another
        language sounds like: names, loanwords and words of the same origin."""
        roman = romanised(word)
        if not self._lines or not roman:
            return []
        initials = {letter for some in _INITIALS if roman[0] in some for letter in some}
        near = np.isin(self._first, [ord(letter) for letter in initials])
        near &= self._lengths >= max(SHORTEST, len(roman) - LONGER)
        near &= self._lengths <= len(roman) + SHORTER
        rows = np.flatnonzero(near).tolist()
        has_vowels = script_of(word) in _WITH_VOWELS
        heard = stem_sound(roman) if has_vowels else consonants(roman)
        if not has_vowels and len(heard) < FEWEST_CONSONANTS:
            return []
        found = []
        for row in rows:
            shown = self._shown[row]
            if has_vowels:
                alike = Levenshtein.normalized_similarity(heard, stem_sound(shown), score_cutoff=COGNATE)
            else:
                alike = Levenshtein.normalized_similarity(roman, shown) if consonants(shown) == heard else 0.0
            if alike:
                found.append((self._lines[row].rpartition("\t")[2], alike))
        return found

    def __contains__(self, word: str) -> bool:
        """Return whether the block contains a lower-case word, ignoring accents."""
        folded = fold(word)
        at = bisect_left(self._shown, folded)
        return at < len(self._shown) and self._shown[at] == folded


def _letters(words: list[str], lengths: np.ndarray) -> np.ndarray:
    """Return each word's set of letters in 64 bits. One change of a word changes at most two bits."""
    if not words:
        return np.empty(0, np.uint64)
    codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4").astype(np.uint64)
    starts = np.concatenate(([0], np.cumsum(lengths[:-1], dtype=np.int64)))
    return np.bitwise_or.reduceat(np.uint64(1) << (codes % _BITS), starts)
