"""Replaces words that the site never uses by what it says instead: a visitor's "cab" is the site's "taxi"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from server.answering.understanding.steps import Understanding
from server.indexes.tokens import tokens
from server.languages.loader import language
from server.languages.scripts import fold
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
        replaced, end, read = [], 0, 0
        for start, stop in _phrases(query.text, query.language):
            if start < read:
                continue
            phrase = query.text[start:stop]
            if said := self._said(phrase, query.language, unused):
                replaced += [query.text[end:start], said]
                end = stop
            if said or len(phrase.split()) > 1:  # a "gift voucher" is no donation, and no code of discount
                read = stop
        if not replaced:
            return so_far
        return replace(so_far, query=replace(query, text="".join(replaced) + query.text[end:]))

    def _said(self, phrase: str, spoken: str, unused: frozenset[str]) -> str:
        """Return what the site says most for a phrase; empty if it uses the phrase itself, or nothing that
        means the same."""
        groups = _synonyms(spoken).get(tuple(tokens(phrase, spoken)), ())
        others = dict.fromkeys(
            other for known, meant in groups if _is_form_of(phrase, known, spoken) for other in meant
        )
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
def _synonyms(spoken: str) -> Mapping[tuple[str, ...], Sequence[tuple[str, tuple[str, ...]]]]:
    """Return (a phrase, those that mean the same) for each group that it is in, by the tokens of the phrase.
    One in parentheses, or with words that are not searched, such as "in person", is only what others become:
    "person" is something else."""
    found: dict[tuple[str, ...], list[tuple[str, tuple[str, ...]]]] = {}
    for group in language(spoken).synonyms.groups:
        phrases = group.split(", ")
        bare = [phrase.strip("()") for phrase in phrases]
        for phrase in phrases:
            said = [tuple(tokens(word, spoken)) for word in _WORD.findall(phrase)]
            if all(said) and not phrase.startswith("("):
                meant = tuple(other for other in bare if other != phrase)
                found.setdefault(sum(said, ()), []).append((phrase, meant))
    return found


def _is_form_of(phrase: str, known: str, spoken: str) -> bool:
    """Return whether a phrase is a known one, but for the endings of its words: the words of a stem may have
    nothing to do with each other, such as the French "gare" and "garer"."""
    endings = language(spoken).synonyms.endings.split()
    words, others = _WORD.findall(fold(phrase.lower())), _WORD.findall(fold(known.lower()))
    if not endings or len(words) != len(others):
        return True

    def bare(word: str) -> set[str]:
        return {word, *(word.removesuffix(ending) for ending in endings)}

    return not any(bare(word).isdisjoint(bare(other)) for word, other in zip(words, others, strict=True))
