"""BM25 over our own tokens: exact words, identifiers, and every language an embedder cannot read."""

from __future__ import annotations

from server.domain.chunk import ScoredChunk
from server.domain.protocols import Strategy
from server.domain.question import Query
from server.retrieval.chunk_indexes import ChunkIndexes
from server.retrieval.options import StrategyKind
from server.retrieval.parts import Parts, ranked, search_live


class LexicalRetriever:
    """Scores a chunk by its BM25 score as a share of the best one found."""

    name = "lexical"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Return chunks, best first; [] if no word of the query occurs on the site."""
        hits = search_live(lambda n: self._parts.words.search(query.text, n), self._parts.chunks, limit)
        best = hits[0][1] if hits else 1.0
        scored = (ScoredChunk(chunk, score / best, {"words": round(score, 4)}) for chunk, score in hits)
        return ranked(list(scored), limit)


def _lexical(parts: Parts) -> Strategy:
    return Strategy(LexicalRetriever(parts), ChunkIndexes(parts, vectors=False))


LEXICAL = StrategyKind("lexical", _lexical)
