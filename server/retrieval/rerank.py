"""A reranker that needs no model: how much of the query a chunk covers, how closely, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.rarity import Rarity, chunk_tokens, coverage

FUSED, COVERAGE, PROXIMITY, HEADING = 0.7, 0.1, 0.1, 0.1
"""Weights of the fused score, of covered query words by their rarity, of word pairs that stand
together as in the query, and of query words in title and headings."""
DEPTH = 20
"""Only so many of the best are looked at; the rest keep their order behind them."""


class FeatureReranker:
    """Reorders fused candidates by what can be read off their text."""

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def rerank(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """The same chunks with new scores in [0, 1]; coverage is kept in `scores` for the grader."""
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        if not asked:
            return list(hits)
        weights = self._rarity.weights(asked)
        pairs = list(pairwise(asked))
        ordered = sorted(hits, key=lambda hit: -hit.score)
        near = [_score(hit, weights, pairs) for hit in ordered[:DEPTH]]
        far = [ScoredChunk(hit.chunk, FUSED * hit.score, hit.scores) for hit in ordered[DEPTH:]]
        return near + far


def _score(hit: ScoredChunk, weights: dict[str, float], pairs: list[tuple[str, str]]) -> ScoredChunk:
    body, heading = chunk_tokens(hit.chunk)
    covered = coverage(weights, heading.union(body))
    in_heading = coverage(weights, heading)
    following = set(pairwise(body))
    together = sum(pair in following for pair in pairs) / len(pairs) if pairs else covered
    score = FUSED * hit.score + COVERAGE * covered + PROXIMITY * together + HEADING * in_heading
    details = {**hit.scores, "coverage": round(covered, 4), "heading": round(in_heading, 4)}
    return ScoredChunk(hit.chunk, score, details)
