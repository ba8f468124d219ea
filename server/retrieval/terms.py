"""The words that tell a set of texts from the rest of the site."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from server.domain.chunk import Chunk
from server.indexes.tokens import page_tokens
from server.languages.scripts import UNSPACED_CHARACTER

_WORD = re.compile(r"\w+(?:[.\-_]\w+)*")
_FENCE = re.compile(r"```.*?(?:```|$)", re.S)
LONGEST = 30
"""Longer words are addresses, encoded data, or cells of a table glued together."""
CANDIDATES = 4
"""Times as many are looked at as wanted, for those that are parts of others."""


@dataclass
class DocumentFrequencies:
    """In how many chunks each token occurs: only of those given, so that what is derived depends on them."""

    chunks: int = 0
    of_token: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> DocumentFrequencies:
        """Counted over the chunks with their headings."""
        made = cls()
        for chunk in chunks:
            made.chunks += 1
            made.of_token.update(set(page_tokens(chunk.indexed_text, chunk.language)))
        return made

    def weight(self, token: str) -> float:
        """Inverse document frequency."""
        return math.log(1 + (self.chunks + 0.5) / (self.of_token[token] + 0.5))


def key_terms(
    texts: Sequence[str], frequencies: DocumentFrequencies, n: int, language: str = ""
) -> list[str]:
    """At most `n` words, as the texts write them, that are frequent here and rare elsewhere; best first."""
    words = Counter(word for text in texts for word in _WORD.findall(_FENCE.sub(" ", text)))
    counts: Counter[str] = Counter()
    written: dict[str, tuple[int, str]] = {}
    for word, times in words.items():
        tokens = _tokens(word, language)
        for token in tokens:
            if len(token) < 2 or not any(char.isalpha() for char in token):
                continue
            counts[token] += times
            shown = token if _unspaced(token) else word
            # A form that is one word is clearer than a name that contains it.
            form = (times if len(tokens) == 1 or shown == token else 0, shown)
            written[token] = max(written.get(token, (0, "")), form)
    telling = {
        token: (1 + math.log(times)) * frequencies.weight(token)
        for token, times in counts.items()
        if frequencies.of_token[token] > 1 or frequencies.chunks <= len(texts)
    }
    best = sorted(telling, key=lambda token: (-telling[token], token))[: CANDIDATES * n]
    return _distinct([written[token][1] for token in best], texts, n)


@lru_cache(maxsize=1 << 16)
def _tokens(word: str, language: str) -> tuple[str, ...]:
    """Of one word, each once; none of a word that is too long to be one."""
    if len(word) > LONGEST and not _unspaced(word):
        return ()
    return tuple(dict.fromkeys(page_tokens(word, language)))


def _distinct(terms: Sequence[str], texts: Sequence[str], n: int) -> list[str]:
    """Without those that say the same again; pairs of characters that follow each other become one."""
    whole = "\n".join(texts)
    kept: list[str] = []
    for term in terms:
        if any(term.lower() in other.lower() for other in kept):
            continue
        longer = term
        for other in [*kept]:
            if joined := _joined(longer, other, whole):
                kept[kept.index(other)] = longer = joined
        if longer == term and len(kept) < n:
            kept.append(term)
    return [term for term in kept if not any(term != other and term in other for other in kept)]


def _joined(one: str, other: str, whole: str) -> str:
    """Two overlapping pieces as the one text that the whole has; "" when it has none."""
    if not _unspaced(one) or not _unspaced(other):
        return ""
    for first, second in ((one, other), (other, one)):
        if first[-1] == second[0] and (found := first + second[1:]) in whole:
            return found
    return ""


def _unspaced(text: str) -> bool:
    return bool(UNSPACED_CHARACTER.match(text))
