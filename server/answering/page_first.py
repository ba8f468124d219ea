"""A page's own passages among what is found, for questions that point at that page: a wrapper around any
retrieval strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import Retriever
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, coverage

ADDED = 3
"""Passages of the page that are looked at although the search did not find them: those that fit best."""
UNFOUND = 0.55
"""Share of the best score that such a passage has, before what it covers of the query."""


class PageFirst:
    """Implements Retriever. A query that points at no page is searched as the strategy inside does it."""

    def __init__(self, strategy: Retriever, page: Callable[[str], Sequence[Chunk]], rarity: Rarity) -> None:
        """`page` gives the chunks of a page by its stored address."""
        self.name = strategy.name
        self._strategy = strategy
        self._page = page
        self._rarity = rarity

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first, with the page's passages a little further up."""
        found = self._strategy.retrieve(query, limit)
        if not query.page:
            return found
        best = found[0].score if found else 1.0
        known = {hit.chunk.id for hit in found}
        added = query.page_share * best
        hits = [_preferred(hit, added) if hit.chunk.url == query.page else hit for hit in found]
        others = self._others(query, known, best) if query.page_share > 0 else []
        return ranked([*hits, *others], limit)

    def _others(self, query: Query, known: set[str], best: float) -> list[ScoredChunk]:
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        made = []
        for chunk in self._page(query.page):
            if chunk.id in known:
                continue
            share = coverage(weights, set(chunk_tokens(chunk)[0]))  # the title is on all of them
            score = min(1.0, best * (UNFOUND + query.page_share + (1 - UNFOUND) * share))
            made.append(
                ScoredChunk(chunk, score, {"page": round(score, 4)}, why="the visitor is on this page")
            )
        return ranked(made, ADDED)


def _preferred(hit: ScoredChunk, added: float) -> ScoredChunk:
    scores = {**hit.scores, "page": round(added, 4)}
    return replace(hit, score=min(1.0, max(0.0, hit.score + added)), scores=scores)
