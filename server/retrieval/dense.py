"""Nearest neighbours of the query's vector: the recipe that most site chatbots ship."""

from __future__ import annotations

from server.domain.chunk import ScoredChunk
from server.domain.protocols import Strategy
from server.domain.question import Query
from server.retrieval.chunk_indexes import ChunkIndexes
from server.retrieval.options import StrategyKind
from server.retrieval.parts import Parts, ranked, search_live


class DenseRetriever:
    """Scores a chunk by the cosine of the query with its title, headings and text, at least 0."""

    name = "dense"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Return chunks, best first. Raises ModelError if the query cannot be embedded."""
        vector = self._parts.embedder.embed([query.searched_text])[0]
        hits = search_live(lambda n: self._parts.vectors.search(vector, n), self._parts.chunks, limit)
        scored = (
            ScoredChunk(chunk, min(1.0, max(0.0, score)), {"dense": round(score, 4)}) for chunk, score in hits
        )
        return ranked(list(scored), limit)


def _dense(parts: Parts) -> Strategy:
    return Strategy(DenseRetriever(parts), ChunkIndexes(parts, words=False))


DENSE = StrategyKind("dense", _dense)
