"""Weighs the words of a query by their rarity: inverse document frequency on the site."""

import math
from collections.abc import Sequence
from functools import lru_cache

from server.domain.chunk import Chunk
from server.domain.question import Query
from server.indexes.postings import K1
from server.indexes.tokens import page_tokens, tokens
from server.indexes.words import SqlWordIndex
from server.languages.scripts import UNSPACED_CHARACTER

REMEMBERED = 50_000
"""Maximum number of tokens whose weights are cached."""
SEAM = 0.1
"""Share of the weight that a pair of characters keeps if it only joins two words of a question."""


class Rarity:
    """Weights of query tokens, from the site's word index.

    Weights are cached for the life of the object, so create a new one when the index has changed.
    """

    def __init__(self, words: SqlWordIndex) -> None:
        self._words = words
        self._known: dict[str, float] = {}
        self._unused: set[str] = set()
        self._last: tuple[str, str, dict[str, float]] = ("", "", {})

    def weights(self, asked: Sequence[str]) -> dict[str, float]:
        """Return the inverse document frequency of each token. Tokens that the site never uses weigh most."""
        known = self._known
        new = [token for token in asked if token not in known]
        if new:
            with self._words.reading():
                count = self._words.count()
                frequencies = self._words.document_frequencies(new)
            if len(known) > REMEMBERED:
                self._known = known = {token: known[token] for token in asked if token in known}
            for token in new:
                known[token] = math.log(1 + (count + 0.5) / (frequencies[token] + 0.5))
                if not frequencies[token]:
                    self._unused.add(token)
        return {token: known[token] for token in asked} | self._seams(asked)

    def of(self, query: Query) -> dict[str, float]:
        """Return the weights of the tokens of a query, not to be changed: each step of an answer asks."""
        text, language, weights = self._last
        if (text, language) != (query.text, query.language):
            asked = list(dict.fromkeys(tokens(query.text, query.language)))
            weights = self.weights(asked) if asked else {}
            self._last = (query.text, query.language, weights)
        return weights

    def ceiling(self, query: Query) -> float:
        """Return the most that BM25 can give for the words of a query."""
        return (K1 + 1) * sum(self.of(query).values())

    def _seams(self, asked: Sequence[str]) -> dict[str, float]:
        """Return weights of unused pairs of characters that join two words which the site does use."""
        return {
            pair: SEAM * self._known[pair]
            for before, pair, after in zip(asked, asked[1:], asked[2:], strict=False)
            if pair in self._unused
            and (before[1:], after[:1]) == (pair[:1], pair[1:])
            and self._unused.isdisjoint((before, after))
            and UNSPACED_CHARACTER.match(pair)
        }

    def unused(self, asked: Sequence[str]) -> frozenset[str]:
        """Return the tokens that the site never uses."""
        self.weights(asked)
        return frozenset(token for token in asked if token in self._unused)


def coverage(weights: dict[str, float], present: frozenset[str] | set[str]) -> float:
    """Return the share in [0, 1] of the tokens' weight that `present` contains; 0 for no tokens."""
    total = held = 0.0
    for token, weight in weights.items():  # a loop is fastest; it runs hundreds of times per question
        total += weight
        if token in present:
            held += weight
    return held / total if total else 0.0


@lru_cache(maxsize=8_000)
def text_tokens(text: str, language: str) -> tuple[str, ...]:
    """Return the tokens of a chunk's text or heading. Cached, because many questions use the same chunks."""
    return tuple(page_tokens(text, language))


@lru_cache(maxsize=500)
def chunk_words(chunk: Chunk) -> frozenset[str]:
    """Return the tokens of the chunk's text, title and headings, each once. A set takes 8 KB, and is quickly
    made from `chunk_tokens`, so only those of recent questions are kept."""
    body, heading = chunk_tokens(chunk)
    return heading.union(body)


@lru_cache(maxsize=4_000)
def chunk_tokens(chunk: Chunk) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the tokens of the chunk's text in order, and the set of those of its title and headings."""
    return text_tokens(chunk.text, chunk.language), frozenset(text_tokens(chunk.heading, chunk.language))
