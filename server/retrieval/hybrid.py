"""Vectors and words searched side by side and fused; the default strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from server.domain.chunk import Changes, Chunk, ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.retrieval.dense import DenseStrategy
from server.retrieval.fusion import Fusion, weighted
from server.retrieval.lexical import LexicalStrategy
from server.retrieval.parts import Parts, ranked
from server.retrieval.rarity import Rarity
from server.retrieval.rerank import FeatureReranker

DENSE_WEIGHT = 0.5
"""Share of the vectors where the embedder reads both the query's and the chunk's language."""
UNREAD_WEIGHT = 0.1
"""Share of the vectors otherwise."""
CANDIDATES = 50
"""Chunks that each side hands to the fusion."""


class HybridStrategy:
    """Fuses dense and lexical retrieval, then reorders the best by features of the match."""

    name = "hybrid"

    def __init__(self, parts: Parts, fusion: Fusion = weighted) -> None:
        self._parts = parts
        self._dense = DenseStrategy(parts)
        self._lexical = LexicalStrategy(parts)
        self._fusion = fusion
        self._reranker = FeatureReranker(Rarity(parts.words))

    def index(self, changes: Changes) -> None:
        """Indexes the vectors first: a chunk that the word index knows has its vector. Raises ModelError."""
        self._dense.index(changes)
        self._lexical.index(changes)

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks from both indexes."""
        self._lexical.forget(ids)
        self._dense.forget(ids)

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first. When the embedder or the vectors fail, the words answer alone."""
        candidates = max(CANDIDATES, limit)
        dense = self._retrieve_dense(query, candidates)
        lexical = self._lexical.retrieve(query, candidates)
        fused = self._reranker.rerank(query, self._fuse(query, dense, lexical))
        for weight, earlier in _earlier(query):
            fused = _add_share(fused, self.retrieve(earlier, candidates), weight)
        return ranked(fused, limit)

    def _retrieve_dense(self, query: Query, limit: int) -> list[ScoredChunk]:
        try:
            return self._dense.retrieve(query, limit)
        except ModelError as error:
            self._parts.on_failure(error.kind, f"embedding a question: {error}")
        except IndexFailure as error:
            self._parts.on_failure("vectors_unavailable", str(error))
        return []

    def _fuse(
        self, query: Query, dense: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk]
    ) -> list[ScoredChunk]:
        chunks = {hit.chunk.id: hit.chunk for hit in (*dense, *lexical)}
        scores = self._fusion(
            {hit.chunk.id: hit.score for hit in dense},
            {hit.chunk.id: hit.score for hit in lexical},
            self._dense_weight(query, chunks),
        )
        details = _details(dense, lexical)
        return [ScoredChunk(chunks[key], score, details[key]) for key, score in scores.items()]

    def _dense_weight(self, query: Query, chunks: dict[str, Chunk]) -> Callable[[str], float]:
        reads = self._parts.embedder.languages

        def weight(chunk_id: str) -> float:
            both = (query.language, chunks[chunk_id].language)
            read = not reads or all(language in reads or not language for language in both)
            return DENSE_WEIGHT if read else UNREAD_WEIGHT

        return weight


def _details(*retrieved: Sequence[ScoredChunk]) -> dict[str, dict[str, float]]:
    details: dict[str, dict[str, float]] = {}
    for hits in retrieved:
        for hit in hits:
            details.setdefault(hit.chunk.id, {}).update(hit.scores)
    return details


def _earlier(query: Query) -> list[tuple[float, Query]]:
    """The queries of the last three turns: 0.3 of the newest one's scores, half for each older one."""
    return [
        (0.3 / 2**age, Query(text, query.language, query.title))
        for age, text in enumerate(query.previous[:3])
    ]


def _add_share(
    scored: Sequence[ScoredChunk], earlier: Sequence[ScoredChunk], weight: float
) -> list[ScoredChunk]:
    by_id = {hit.chunk.id: hit for hit in scored}
    for hit in earlier:
        now = by_id.get(hit.chunk.id, ScoredChunk(hit.chunk, 0.0))
        share = weight * hit.score
        by_id[hit.chunk.id] = ScoredChunk(
            hit.chunk, now.score + share, {**now.scores, "history": round(share, 4)}
        )
    return [ScoredChunk(hit.chunk, min(1.0, hit.score), hit.scores) for hit in by_id.values()]
