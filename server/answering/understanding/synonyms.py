"""Replaces words that the site never uses by what it says instead: a visitor's "cab" is the site's "taxi"."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from server.answering.understanding.steps import Understanding
from server.indexes.tokens import tokens
from server.languages.loader import language
from server.retrieval.rarity import Rarity

LONGEST = 3
"""Most words of a phrase that is replaced."""
_WORD = re.compile(r"\w[\w'’-]*")


class SynonymStep:
    """Implements UnderstandingStep. The words that mean the same are in the language files."""

    name = "synonyms"

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the site's words in the query. Raises StorageError."""
        query = so_far.query
        unused = self._rarity.unused(list(self._rarity.of(query)))
        if not unused or not language(query.language).synonyms.groups:
            return so_far
        replaced, end = [], 0
        for start, stop in _phrases(query.text, query.language):
            if start >= end and (said := self._said(query.text[start:stop], query.language, unused)):
                replaced += [query.text[end:start], said]
                end = stop
        if not replaced:
            return so_far
        return replace(so_far, query=replace(query, text="".join(replaced) + query.text[end:]))

    def _said(self, phrase: str, spoken: str, unused: frozenset[str]) -> str:
        """Return what the site says most for a phrase; empty if it uses the phrase itself, or nothing that
        means the same."""
        others = _synonyms(spoken).get(tuple(tokens(phrase, spoken)), ())
        if not others or unused.isdisjoint(tokens(phrase, spoken)):
            return ""
        words = {other: tokens(other, spoken) for other in others}
        weights = self._rarity.weights([word for some in words.values() for word in some])
        lacking = self._rarity.unused(list(weights))
        used = [other for other, some in words.items() if some and lacking.isdisjoint(some)]
        return min(used, key=lambda other: max(weights[word] for word in words[other]), default="")


def _phrases(text: str, spoken: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the phrases of a text that have synonyms, the longest at each word first."""
    words = [found.span() for found in _WORD.finditer(text)]
    said = [tuple(tokens(text[start:end], spoken)) for start, end in words]
    for place, (start, _) in enumerate(words):
        for last in reversed(range(place, min(place + LONGEST, len(words)))):
            phrase = said[place : last + 1]
            if all(phrase) and sum(phrase, ()) in _synonyms(spoken):
                yield start, words[last][1]


@cache
def _synonyms(spoken: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the phrases that mean the same as another, by the tokens of that one. A phrase with words that
    are not searched, such as "in person", is only what others become: "person" is something else."""
    found: dict[tuple[str, ...], list[str]] = {}
    for group in language(spoken).synonyms.groups:
        phrases = group.split(", ")
        for phrase in phrases:
            said = [tuple(tokens(word, spoken)) for word in _WORD.findall(phrase)]
            if all(said):
                found.setdefault(sum(said, ()), []).extend(other for other in phrases if other != phrase)
    return {key: tuple(dict.fromkeys(others)) for key, others in found.items()}
