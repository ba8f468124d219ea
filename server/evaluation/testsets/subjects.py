"""Which pages speak of what a question asks: what one page alone covers cannot be answered without it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable

from server.domain.chunk import Chunk
from server.indexes.tokens import page_tokens, tokens

MOST_COVERED = 0.55
"""Share of a question's words, weighted by rarity, that a passage of another page may have."""
NEARER = 0.12
"""By so much the question's own page must be nearer in meaning than every other."""

Nearest = Callable[[str, int], list[tuple[str, float]]]
"""Addresses of the pages of the passages nearest to a text, with their cosines, best first."""
_DEPTH = 20


class Subjects:
    """The words of every passage of a site."""

    def __init__(self, chunks: Iterable[Chunk], nearest: Nearest | None = None) -> None:
        """Without `nearest` the words decide alone."""
        self._nearest = nearest
        self._pages: list[str] = []
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, chunk in enumerate(chunks):
            self._pages.append(chunk.url)
            for token in set(page_tokens(f"{chunk.heading} {chunk.text}", chunk.language)):
                self._postings[token].append(number)

    def is_only_on(self, url: str, question: str, language: str) -> bool:
        """Whether no other page says what is asked."""
        return self._covered(url, question, language) <= MOST_COVERED and self._is_far(url, question)

    def _covered(self, url: str, question: str, language: str) -> float:
        """The most that a passage of another page has of the question's words."""
        shares: defaultdict[int, float] = defaultdict(float)
        total = 0.0
        for token in dict.fromkeys(tokens(question, language)):
            places = self._postings.get(token, [])
            weight = math.log(1 + (len(self._pages) + 0.5) / (len(places) + 0.5))
            total += weight
            for place in places:
                shares[place] += weight
        others = (share for place, share in shares.items() if self._pages[place] != url)
        return max(others, default=0.0) / total if total else 1.0

    def _is_far(self, url: str, question: str) -> bool:
        if self._nearest is None:
            return True
        near = self._nearest(question, _DEPTH)
        own = max((cosine for page, cosine in near if page == url), default=0.0)
        return own - max((cosine for page, cosine in near if page != url), default=0.0) >= NEARER
