"""Other ways to ask the same, made without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts_of_question import parts_of
from server.retrieval.rarity import Rarity, text_tokens

READ = 3
"""Hits that feedback takes words from."""
FEEDBACK = 8
"""Words that it adds."""
_NAMED = re.compile(r"[\"'`“„«][^\"'`”“»]{1,60}[\"'`”»]|\b\d[\w.,:/-]*\b|\b\w*[_/\\]\w+\b|(?<=\s)[A-Z]\w*\b")


class KeywordVariants:
    """Implements Expander: only the words that tell most on this site."""

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def expand(self, query: Query, found: Sequence[ScoredChunk]) -> list[Query]:
        """[] for a question of few words, which has nothing to spare."""
        words = query.text.split()
        weights = {word: self._weight(word, query.language) for word in words}
        telling = sorted((word for word in words if weights[word]), key=lambda word: -weights[word])
        if len(telling) < 4:
            return []
        kept = set(telling[: max(3, len(telling) * 2 // 3)])
        return [replace(query, text=" ".join(word for word in words if word in kept))]

    def _weight(self, word: str, language: str) -> float:
        """0 for a word that tells nothing: one of grammar, or one that the site never uses."""
        found = tokens(word, language)
        used = [token for token in found if token not in self._rarity.unused(found)]
        return max(self._rarity.weights(used).values(), default=0.0)


class SubQuestions:
    """Implements Expander: the parts of a question that asks for several things."""

    def expand(self, query: Query, found: Sequence[ScoredChunk]) -> list[Query]:
        """[] for a question that asks for one thing."""
        return [replace(query, text=part) for part in parts_of(query.text)]


class StepBack:
    """Implements Expander: the question without the names, numbers and quoted words that make it special."""

    def expand(self, query: Query, found: Sequence[ScoredChunk]) -> list[Query]:
        """[] when nothing is special, or nothing else is left."""
        general = " ".join(_NAMED.sub(" ", query.text).split())
        if general == query.text or len(tokens(general, query.language)) < 2:
            return []
        return [replace(query, text=general)]


class Feedback:
    """Implements Expander: the question with the words that stand out in what it found first.

    The model-free form of a passage as it might answer: its words come from the site itself.
    """

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def expand(self, query: Query, found: Sequence[ScoredChunk]) -> list[Query]:
        """[] when nothing was found."""
        known = set(tokens(query.text, query.language))
        counted: Counter[str] = Counter()
        for hit in found[:READ]:
            counted.update(dict.fromkeys(set(text_tokens(hit.chunk.text, hit.chunk.language)) - known, 1))
        shared = {token: count for token, count in counted.items() if count > 1 and token.isalpha()}
        weights = self._rarity.weights(list(shared))
        best = sorted(shared, key=lambda token: (-shared[token] * weights[token], token))[:FEEDBACK]
        return [replace(query, text=f"{query.text} {' '.join(best)}")] if best else []
