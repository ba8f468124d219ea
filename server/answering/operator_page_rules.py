"""An operator's page rules, applied to search results: excluded pages go, pinned pages are always read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_words, coverage

MOST_EACH = 2
"""Passages of a pinned page that are always looked at, the best ones; fewer where many pages are pinned, so
that at least half of the room is left to what the search found."""
UNFOUND = 0.4
"""Share of the best score that such a passage has, before what it covers of the query: without any of its
words it is looked at, but not kept next to passages that fit."""


class OperatorPageRules:
    """Drop passages of excluded pages and add the best passages of pinned ones.

    Whether the site answers at all is decided as for any other passage, by what they say.
    """

    name = "operator's page rules"

    def __init__(
        self,
        decided: Callable[[Collection[str]], tuple[set[str], list[str]]],
        page: Callable[[str], Sequence[Chunk]],
        rarity: Rarity,
    ) -> None:
        """`decided` gives the excluded ones among some pages, and every pinned page; `page` gives the
        chunks of a page. Both by stored addresses."""
        self._decided = decided
        self._page = page
        self._rarity = rarity

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Best first."""
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
        # Those of pinned pages stay, however little room there is.
        return ranked([*others[: max(0, limit - len(pins))], *pins], limit)

    def _best_of(self, url: str, query: Query, best: float) -> list[ScoredChunk]:
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        made = []
        for chunk in self._page(url):
            share = coverage(weights, chunk_words(chunk))
            score = min(1.0, best * (UNFOUND + (1 - UNFOUND) * share))
            made.append(ScoredChunk(chunk, score, {"pinned": round(score, 4)}, why="its page is pinned"))
        return ranked(made, MOST_EACH)
