"""Sets of words, written as text."""


def wordset(text: str) -> frozenset[str]:
    """Return the words of a text: "a b c" -> {"a", "b", "c"}. Keeps long tables of names readable."""
    return frozenset(text.split())
