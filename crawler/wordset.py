"""Sets of words, written as text."""

from __future__ import annotations


def wordset(text: str) -> frozenset[str]:
    """ "a b c" -> {"a", "b", "c"}: long tables of names stay readable."""
    return frozenset(text.split())
