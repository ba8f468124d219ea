"""BM25 over our own tokens: exact words, identifiers, and every language an embedder cannot read."""

from __future__ import annotations

from collections.abc import Sequence

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, SiteText
from server.domain.question import Query
from server.retrieval.parts import Parts, ranked, search_live


class LexicalStrategy:
    """Relevance is the BM25 score as a share of the best one found."""

    name = "lexical"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def index(self, changes: Changes) -> None:
        """Stores the added chunks' words."""
        if changes.added:
            self._parts.words.add(changes.added)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Nothing is derived."""

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks' words."""
        self._parts.words.remove(ids)

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first; [] when no word of the query occurs on the site."""
        hits = search_live(lambda n: self._parts.words.search(query.text, n), self._parts.chunks, limit)
        best = hits[0][1] if hits else 1.0
        scored = (ScoredChunk(chunk, score / best, {"words": round(score, 4)}) for chunk, score in hits)
        return ranked(list(scored), limit)
