"""Decides whether two questions ask the same thing, and how similar they are."""

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from server.domain.protocols import Embedder, ModelError, Vector
from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled
from server.languages.loader import language as known
from server.retrieval.parts import cosines
from server.retrieval.rarity import Rarity

WORDS_SHARE = 0.3
"""Share of the common words in the likeness of two questions; the rest is the cosine of their meanings."""
BATCH = 64

_NOT = compiled(alternatives(lambda one: one.sentences.denials))
_ASKS = {
    kind: compiled(rf"(?<![a-zà-ÿа-я])(?:{words})(?![a-zà-ÿа-я])", re.NOFLAG)
    for kind, words in (
        ("time", alternatives(lambda one: one.questions.time)),
        ("place", alternatives(lambda one: one.questions.place)),
        ("person", alternatives(lambda one: one.questions.person)),
    )
}
"""Matches whole words only, in scripts with spaces."""
_DIRECTION = compiled(rf"\b({alternatives(lambda one: one.questions.directions)})\b")


def plain(text: str) -> str:
    """Normalise a question: fold case and white space, and strip the punctuation around it."""
    folded = " ".join(normalize("NFKC", text).casefold().replace("’", "'").split())
    return folded.strip(" ?!.…¿¡。？！؟,;:\"'“”„«»")


def essence(text: str, language: str) -> tuple[str, ...]:
    """Return the stems of a question's words in order, without the words that carry no meaning.

    Two questions with the same essence ask the same thing: every question word, negation, number, name and
    preposition is part of it. In languages without a list of idle words, all words are kept.
    """
    idle = known(language).stop_words.idle
    words = re.findall(r"[\w][\w.\-/+#'@&]*[\w+#]|\w", re.sub(r"\bhow to\b", "how", plain(text)))
    return tuple(_stem(word, language) for word in words if word not in idle)


def contradiction(one: str, other: str) -> str:
    """Return why two questions cannot be the same: "numbers", "denial", "kind" (of fact asked for) or
    "direction"; "" when nothing contradicts. Likeness does not detect that."""
    if _numbers(one) != _numbers(other):
        return "numbers"
    if bool(_NOT.search(one)) != bool(_NOT.search(other)):
        return "denial"
    ask, ask_other = _asked_for(one), _asked_for(other)
    if ask and ask_other and not ask & ask_other:
        return "kind"
    return "direction" if _is_reversed(one, other) else ""


class Likeness:
    """Computes how similar questions are, in [0, 1]: by meaning where the embedder reads their language, and
    by common words. Rare words count more."""

    def __init__(self, rarity: Rarity, embedder: Embedder) -> None:
        self._rarity = rarity
        self._embedder = embedder

    def of(self, text: str, others: Sequence[str], language: str) -> list[float]:
        """Return one value for each of `others`. When the embedder fails, only the words count."""
        asked = frozenset(tokens(text, language))
        shared = [self._shared(asked, frozenset(tokens(other, language))) for other in others]
        reads = not self._embedder.languages or language in self._embedder.languages
        try:
            vectors = self._vectors([text, *others]) if reads and others else []
        except ModelError:
            vectors = []
        if not vectors:
            return shared
        near = cosines(vectors[0], vectors[1:])
        return [
            (1 - WORDS_SHARE) * cosine + WORDS_SHARE * words
            for cosine, words in zip(near, shared, strict=True)
        ]

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed the texts so that their vectors are cached before a visitor asks. Never fails."""
        try:
            self._vectors(list(texts))
        except ModelError:
            return

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [vector for batch in batches for vector in self._embedder.embed(batch)]

    def _shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        weights = self._rarity.weights(sorted(one | other))
        total = sum(weights.values())
        return sum(weights[token] for token in one & other) / total if total else 0.0


def _asked_for(text: str) -> set[str]:
    asked = plain(text)
    return {kind for kind, asks in _ASKS.items() if asks.search(asked)}


def _is_reversed(one: str, other: str) -> bool:
    """Return whether both use the same words in another order: "PDF to Word" and "Word to PDF"."""
    if not (_DIRECTION.search(one) and _DIRECTION.search(other)):
        return False
    words, others = essence(one, ""), essence(other, "")
    return words != others and sorted(words) == sorted(others)


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\w.,:/-]*\w|\d", plain(text)))


def _stem(word: str, language: str) -> str:
    held = tokens(word, language)
    return held[0] if len(held) == 1 and word.isalpha() else word
