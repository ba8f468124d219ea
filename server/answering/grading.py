"""Which chunks bear on the question, and whether the site answers it at all.

A cosine alone cannot tell a near miss from an answer, so answerability joins several signs: how near the
best chunk is in meaning, how much of the question's weight (rare words count more) the best chunk and
the best few together hold, and whether vectors and words agree on the best chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from server.domain.calibration import Calibration
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Embedder
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.rarity import Rarity, chunk_tokens, coverage

DEFAULT_FLOOR = 0.35
"""Between 0.3 and 0.4, which on four development sets keep 85 to 100 of 100 answerable questions, and
let through 2 to 9 (at 0.3) or 1 to 6 (at 0.4) of 100 about something else."""
NEAR = 3
"""Chunks that together may cover the question."""
KEEP = 0.55
"""A chunk is kept when its score is at least this share of the best one's."""
LIMIT = 6


@dataclass(frozen=True, slots=True)
class Evidence:
    """The signs that a question can be answered."""

    nearness: float
    """Of the nearest among the first chunks, by the site's calibration: 0 off topic, 1 on topic."""
    best_coverage: float
    """Share of the question's weight that the best chunk holds."""
    joint_coverage: float
    """Share that the first few chunks hold together."""

    def answerability(self, *, reads_language: bool) -> float:
        """Probability-like value in [0, 1]; coefficients fitted on answerable and unanswerable questions."""
        if reads_language:
            value = -4.1 + 5.7 * self.nearness + 3.3 * self.best_coverage
        else:
            value = -3.6 + 3.4 * self.best_coverage + 3.4 * self.joint_coverage
        return 1 / (1 + math.exp(-value))


class EvidenceGrader:
    """Implements Grader without a model."""

    def __init__(
        self, rarity: Rarity, embedder: Embedder, calibration: Calibration, floor: float = DEFAULT_FLOOR
    ) -> None:
        """Below `floor` the site is taken not to answer."""
        self._rarity = rarity
        self._reads = embedder.languages
        self._calibration = calibration
        self._floor = floor

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """The chunks near the best one; [] when the evidence is under the floor."""
        if not chunks or self.answerability(query, chunks) < self._floor:
            return []
        return [hit for hit in chunks if hit.score >= KEEP * chunks[0].score][:LIMIT]

    def answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """In [0, 1]; 0 for no chunks."""
        if not chunks:
            return 0.0
        reads = not self._reads or query.language in self._reads
        # Without a cosine, as when the provider of the embeddings is down, the words decide alone.
        reads = reads and any("dense" in hit.scores for hit in chunks)
        return self.evidence(query, chunks).answerability(reads_language=reads)

    def evidence(self, query: Query, chunks: Sequence[ScoredChunk]) -> Evidence:
        """The signs for `query` in retrieved `chunks`, best first."""
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        held = []
        for hit in chunks[:NEAR]:
            body, heading = chunk_tokens(hit.chunk)
            held.append(heading.union(body))
        nearest = max(hit.scores.get("dense", 0.0) for hit in chunks[:NEAR])
        return Evidence(
            nearness=self._calibration.nearness(nearest),
            best_coverage=max(coverage(weights, present) for present in held),
            joint_coverage=coverage(weights, frozenset().union(*held)),
        )
