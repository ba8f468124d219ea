"""Claims, entailment and likeness by words alone: what stands in for a model that judges."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from server.answering.writing.units import UnitKind, units
from server.indexes.tokens import tokens
from server.retrieval.rarity import text_tokens

COVER = 0.5
"""Share of a claim's tokens that a text must hold to entail it."""
FEWEST = 2
"""A claim of fewer tokens says nothing that could be checked."""
_MARKER = re.compile(r"\s*\[\d+\](?:\([^)]*\))?")
_MARKDOWN = re.compile(r"[*_`>#]+|^\s*(?:-|\d+\.)\s+", re.M)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Weights = Callable[[Sequence[str]], Mapping[str, float]]
"""How much each token tells: server.retrieval.rarity.Rarity.weights."""


def plain(answer: str) -> str:
    """An answer without markers of citations."""
    return _MARKER.sub("", answer).strip()


def claims_of(text: str, language: str) -> list[str]:
    """What a text says, one sentence, item or row each; what only introduces others is left out."""
    found = []
    for unit in units(plain(text)):
        claim = unit.quote if unit.kind is UnitKind.CODE else _MARKDOWN.sub("", unit.quote).strip()
        introduces = claim.endswith((":", "："))
        if not introduces and len(set(tokens(claim, language))) >= FEWEST:
            found.append(claim)
    whole = _MARKDOWN.sub("", plain(text)).strip()
    if not found and whole and not whole.endswith((":", "：")):
        return [whole]  # "Yes.", "42"
    return list(dict.fromkeys(found))


def entails(text: str, claim: str, language: str) -> bool:
    """Whether a text holds enough of a claim's words, and all of its numbers."""
    wanted = set(tokens(claim, language))
    if not wanted:
        return claim.casefold() in text.casefold()
    numbers = set(_NUMBER.findall(claim))
    if numbers and not numbers <= set(_NUMBER.findall(text)):
        return False
    return len(wanted.intersection(text_tokens(text, language))) >= COVER * len(wanted)


def entailed(claims: Sequence[str], texts: Sequence[str], language: str) -> list[list[bool]]:
    """A row for each claim, a column for each text."""
    return [[entails(text, claim, language) for text in texts] for claim in claims]


def token_f1(one: str, other: str, language: str) -> float:
    """Harmonic mean of the shares of tokens that two texts have in common, repeated ones counted."""
    first, second = Counter(tokens(one, language)), Counter(tokens(other, language))
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0


def tfidf_cosine(one: str, other: str, language: str, weights: Weights) -> float:
    """Of two texts, by the site's own rarity of words."""
    first, second = (Counter(tokens(text, language)) for text in (one, other))
    weight = weights(list(first | second))
    norms = math.prod(math.sqrt(sum((n * weight[t]) ** 2 for t, n in of.items())) for of in (first, second))
    dot = sum(first[token] * second[token] * weight[token] ** 2 for token in first.keys() & second.keys())
    return min(1.0, dot / norms) if norms else 0.0
