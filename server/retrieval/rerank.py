"""A reranker that needs no model: does the title name what is asked, and can the chunk carry an answer?

Weights fitted on twelve sets together, and rounded. Word pairs in the query's order, the shortest window with
all its words, the place on the page and the words of its address were tried and gained nothing beside these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.features import prose, substance
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, coverage, text_tokens

FUSED, TITLE, SUBSTANCE, PROSE = 0.8, 0.08, 0.08, 0.04
"""Weights of the fused score, of query words in the page's title, of the text's length, of sentences."""
DEPTH = 20
"""So many of the best get details: those cost a look at every word of a chunk."""


class FeatureReranker:
    """Reorders fused candidates by what can be read off their text. Implements Reranker."""

    name = "features"

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def rerank(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Scores stay in [0, 1]."""
        weights = self._weights(query)
        return ranked([_rescored(hit, weights) for hit in hits], len(hits))

    def detailed(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """In the same order, with coverage by text and headings in `scores`, for the grader to read."""
        weights = self._weights(query)
        return [*(_detailed(hit, weights) for hit in hits[:DEPTH]), *hits[DEPTH:]]

    def _weights(self, query: Query) -> dict[str, float]:
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        return self._rarity.weights(asked) if asked else {}


def _rescored(hit: ScoredChunk, weights: dict[str, float]) -> ScoredChunk:
    chunk = hit.chunk
    titled = coverage(weights, frozenset(text_tokens(chunk.title, chunk.language)))
    score = FUSED * hit.score + TITLE * titled + SUBSTANCE * substance(chunk) + PROSE * prose(chunk.text)
    return replace(hit, score=score, scores={**hit.scores, "title": round(titled, 4)})


def _detailed(hit: ScoredChunk, weights: dict[str, float]) -> ScoredChunk:
    body, heading = chunk_tokens(hit.chunk)
    covered, headed = coverage(weights, heading.union(body)), coverage(weights, heading)
    details = {**hit.scores, "coverage": round(covered, 4), "heading": round(headed, 4)}
    return replace(hit, scores=details)
