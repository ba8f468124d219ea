"""Detects claims that say the opposite of the sentence that proves them.

Clauses are compared one by one, because "arrives in two days, not counting Sundays" does not deny that it
arrives in two days. Each clause of the claim is compared with the page's clause that shares most words.
"""

import re
from collections.abc import Sequence

from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled, languages

_NOT = compiled(alternatives(lambda one: one.sentences.negations))
_AGREEING = frozenset(code for code, one in languages().items() if one.sentences.negatives_agree)
"""Languages in which two negatives deny once: "ne ... pas", "no ... nunca"."""
_CLAUSES = compiled(
    rf"[,;:()、，；：。]|\s[–—-]\s|\b(?:{alternatives(lambda one: one.sentences.clause_words)})\b"
)
_OPPOSITE = {
    one: other
    for known in languages().values()
    for pair in known.sentences.opposites
    for one, other in (pair.split(), reversed(pair.split()))
}  # pairs such as "most" and "least" are left out: both often occur in one true sentence
SHARED = 0.5
"""Share of a clause's words that another clause must contain to be about the same thing."""


def flips(claim: str, proof: str, language: str) -> bool:
    """Return whether a clause of `claim` denies what the closest clause of `proof` says, or vice versa."""
    if len(claim) > 600:
        return False  # code and the like
    there = [(clause, frozenset(tokens(clause, language))) for clause in clauses(proof)]
    return bool(there) and any(
        _denies(clause, frozenset(tokens(clause, language)), there, language) for clause in clauses(claim)
    )


def _denies(
    clause: str, words: frozenset[str], there: Sequence[tuple[str, frozenset[str]]], language: str
) -> bool:
    if not words:
        return False
    near = max(there, key=lambda one: (len(words & one[1]), -len(one[1])))
    if len(words & near[1]) < SHARED * len(words):
        return False
    if _opposed(clause, near[0], language):
        return True
    return _negated(clause, language) != _negated(near[0], language)


def _opposed(claim: str, proof: str, language: str) -> bool:
    mine, theirs = _plain(claim), _plain(proof)
    for word in mine:
        other = _OPPOSITE.get(word)
        if other and other in theirs and other not in mine and word not in theirs:
            return _negated(claim, language) == _negated(proof, language)
    return False


def _negated(clause: str, language: str) -> bool:
    count = len(_NOT.findall(clause))
    return count > 0 if language in _AGREEING else count % 2 == 1


def _plain(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def clauses(text: str) -> list[str]:
    """Split a sentence into clauses."""
    return [part for part in _CLAUSES.split(text) if part and len(part.strip()) > 2]
