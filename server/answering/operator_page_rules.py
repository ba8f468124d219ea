"""Applies an operator's page rules to search results: drops excluded pages, always adds pinned ones."""

from collections.abc import Callable, Collection, Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_words, coverage

MOST_EACH = 2
"""Number of best passages always added from a pinned page. With many pinned pages it is fewer, so that at
least half of the results come from the search."""
UNFOUND = 0.4
"""Base score of such a passage, as a share of the best score, before its coverage of the query. A passage
with none of the query's words is a candidate, but is not kept next to passages that fit."""


class OperatorPageRules:
    """Drop passages of excluded pages and add the best passages of pinned ones.

    Pinned passages are graded like any other: they do not make a question answerable by themselves.
    """

    name = "operator's page rules"

    def __init__(
        self,
        decided: Callable[[Collection[str]], tuple[set[str], list[str]]],
        page: Callable[[str], Sequence[Chunk]],
        rarity: Rarity,
    ) -> None:
        """`decided` returns which of the given pages are excluded, and all pinned pages. `page` returns the
        chunks of a page. Both use stored addresses."""
        self._decided = decided
        self._page = page
        self._rarity = rarity

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first."""
        excluded, pinned = self._decided({hit.chunk.url for hit in found})
        hits = [hit for hit in found if hit.chunk.url not in excluded]
        if not pinned:
            return hits
        known = {hit.chunk.id: hit for hit in hits}
        best = hits[0].score if hits else 1.0
        each = max(1, min(MOST_EACH, limit // (2 * len(pinned))))
        pins = [hit for url in pinned for hit in self._best_of(url, query, best)[:each]]
        pins = [known.get(hit.chunk.id, hit) for hit in pins]
        theirs = {hit.chunk.id for hit in pins}
        others = [hit for hit in hits if hit.chunk.id not in theirs]
        # Pinned passages are kept even if no room is left for others.
        return ranked([*others[: max(0, limit - len(pins))], *pins], limit)

    def _best_of(self, url: str, query: Query, best: float) -> list[ScoredChunk]:
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        made = []
        for chunk in self._page(url):
            share = coverage(weights, chunk_words(chunk))
            score = min(1.0, best * (UNFOUND + (1 - UNFOUND) * share))
            made.append(ScoredChunk(chunk, score, {"pinned": round(score, 4)}, why="its page is pinned"))
        return ranked(made, MOST_EACH)
