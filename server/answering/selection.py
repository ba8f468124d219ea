"""Which units make the answer: the best one, and what supports it.

A further unit is taken for what it adds: its own support, words of the question that nothing chosen
holds yet, and being near to what is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from server.answering.company import company_of
from server.answering.evidence import Support
from server.answering.units import Unit
from server.retrieval.rarity import coverage

MAX_PICKS = 5
"""Units that are chosen for themselves; each may bring what it cannot be understood without."""
MAX_CHARS = 700
"""An answer is not continued past this length; denser scripts reach it with a third of it."""
KEEP = 0.75
"""A further unit must reach this share of the best one's score, with what it adds."""
LOOKED_AT = 20
"""Candidates that are compared; what is below supports too little."""
NEW_WORDS, SAME_CHUNK, NEIGHBOUR = 0.2, 0.03, 0.04
REPEATED = 0.7
"""A unit that shares more of its words than this with a chosen one says it again."""

Place = tuple[int, int]
"""Chunk and position of a unit in it."""


class Selection:
    """The units of one answer, in the order in which they were picked."""

    def __init__(
        self, read: Sequence[Sequence[Unit]], weights: dict[str, float], unfit: Callable[[Place], bool]
    ) -> None:
        """What is `unfit` is not quoted, neither for itself nor as company of another unit."""
        self._read = read
        self._unfit = unfit
        self._weights = weights
        self._held: set[str] = set()
        self._sources: set[int] = set()
        self._words: list[set[str]] = []
        self._length = 0.0
        self.places: dict[Place, int] = {}
        """With the number of the pick that each belongs to."""

    def choose(self, candidates: Sequence[Support]) -> dict[Place, int]:
        """Of `candidates`, best first."""
        left = list(candidates[:LOOKED_AT])
        pick = 1
        while left and pick <= MAX_PICKS:
            best = max(left, key=self._worth)
            left.remove(best)
            if self.places and self._worth(best) < KEEP * candidates[0].score:
                break
            if not self._says_again(best) and not self._unfit((best.source, best.position)):
                self._take(best, pick)
                pick += 1
        return self.places

    def _worth(self, support: Support) -> float:
        if not self.places:
            return support.score
        worth = support.score + NEW_WORDS * coverage(self._weights, support.held - self._held)
        if support.source in self._sources:
            worth += SAME_CHUNK
        beside = ((support.source, support.position - 1), (support.source, support.position + 1))
        return worth + (NEIGHBOUR if any(place in self.places for place in beside) else 0.0)

    def _says_again(self, support: Support) -> bool:
        if (support.source, support.position) in self.places:
            return True
        words = _words(support.unit)
        return any(len(words & other) > REPEATED * len(words | other) for other in self._words)

    def _take(self, support: Support, pick: int) -> None:
        found = self._read[support.source]
        group = company_of(found, support.position, int(MAX_CHARS * 1.5))
        new = [
            position
            for position in group
            if (support.source, position) not in self.places and not self._unfit((support.source, position))
        ]
        size = sum(_size(found[position].text) for position in new)
        if self.places and self._length + size > MAX_CHARS:
            return
        self._length += size
        self._held |= support.held
        self._sources.add(support.source)
        for position in new:
            self.places[support.source, position] = pick
            self._words.append(_words(found[position]))


def _words(unit: Unit) -> set[str]:
    text = unit.quote.casefold()
    if text.isascii() or " " in text:
        return set(text.split())
    return {text[at : at + 2] for at in range(len(text) - 1)} or {text}


def _size(text: str) -> float:
    """In letters of a Latin script: a character of Chinese, Japanese or Korean says as much as two."""
    return len(text) if text.isascii() else sum(1 if ord(char) < 0x2E80 else 2.2 for char in text)
