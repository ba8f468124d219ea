"""How well each unit of the chunks supports an answer, by what can be read off without a model.

The weights were fitted on the evidence of questions over manuals in five languages, each language judged
by the others' weights. A sentence counts by the query's words that it holds, rare words counting more,
above all by those that its heading does not have already, which say what is particular to it; by its
chunk's relevance and nearness in meaning; and by its length, since a longer sentence tells more. Where an
amount is asked for, a number helps. Comparing each sentence's own meaning added nothing to these signs,
and took longest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from server.answering.understanding.discourse import asks, asks_for_amount, is_label
from server.answering.writing.units import Unit, UnitKind
from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.rarity import Rarity, coverage, text_tokens

WORDS, ABOUT, ADDS, NEAR, RELEVANT, AMOUNT, LONG = 0.2, 0.1, 0.25, 0.12, 0.15, 0.1, 0.03
WHOLE, ASKED = 0.9, 0.2
"""Under a heading that holds so much of the question, sentences answer it without its words."""
ASKS = 0.06
"""Taken from questions that the page itself asks."""
LONGEST = 45
"""Words from which on a longer unit tells no more."""


@dataclass(frozen=True, slots=True)
class Support:
    """A unit of a chunk with what speaks for it."""

    source: int
    """Index of the chunk."""
    position: int
    """Index of the unit in its chunk."""
    unit: Unit
    held: frozenset[str]
    """Words of the query that it holds."""
    score: float


class Evidence:
    """Scores units of one question's chunks."""

    def __init__(self, rarity: Rarity, query: Query) -> None:
        self.weights = rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        self._asked = frozenset(self.weights)
        self._amount = asks_for_amount(query.text)

    def of(self, chunks: Sequence[ScoredChunk], read: Sequence[Sequence[Unit]]) -> list[Support]:
        """Best first; lines that only name something are left out where anything else is there."""
        best = max((hit.score for hit in chunks), default=1.0) or 1.0
        found = [
            support
            for source, (hit, members) in enumerate(zip(chunks, read, strict=True))
            for support in self._of_chunk(source, hit, members, hit.score / best)
        ]
        telling = [one for one in found if not _is_label(one.unit)]
        return sorted(telling or found, key=lambda support: -support.score)

    def _of_chunk(
        self, source: int, hit: ScoredChunk, members: Sequence[Unit], relevance: float
    ) -> list[Support]:
        language = hit.chunk.language
        heading = self._asked.intersection(text_tokens(hit.chunk.heading, language))
        in_heading = coverage(self.weights, heading)
        base = RELEVANT * relevance + NEAR * hit.scores.get("dense", 0.0)
        if in_heading >= WHOLE:
            base += ASKED
        scored = []
        words: dict[frozenset[str], float] = {}  # many units hold the same words of the query
        for position, unit in enumerate(members):
            held = self._asked.intersection(text_tokens(unit.text, language))
            if held not in words:
                with_heading = coverage(self.weights, held | heading)
                words[held] = (
                    WORDS * coverage(self.weights, held)
                    + ABOUT * with_heading
                    + ADDS * (with_heading - in_heading)
                )
            scored.append(Support(source, position, unit, held, base + words[held] + self._form(unit)))
        return scored

    def _form(self, unit: Unit) -> float:
        form, has_number = _form(unit.quote)
        return form + AMOUNT if self._amount and has_number else form


@lru_cache(maxsize=5_000)
def _form(quote: str) -> tuple[float, bool]:
    """What the form of a unit says for it, and whether it holds a number."""
    long = LONG * math.log1p(min(_length(quote), LONGEST))
    return long - (ASKS if asks(quote) else 0.0), re.search(r"\d", quote) is not None


@lru_cache(maxsize=5_000)
def _is_label(unit: Unit) -> bool:
    return unit.kind is UnitKind.SENTENCE and is_label(unit.quote)


def _length(text: str) -> float:
    """In words; two characters are one where words are not set apart."""
    return max(len(text.split()), 0 if text.isascii() else len(text) / 6)
