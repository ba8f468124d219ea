"""Making one ranking of two: that of the vectors and that of the words.

All kinds are kept for comparison. Measured over twelve sets, the weighted sum in which a share of the
words' score is a share of what the whole question could score does best: where a question is put in other
words than the page's, its few matches say little, and the vectors decide. Bringing the best match to 1
(`min_max` on both sides) hides that; ranks (reciprocal rank fusion: Cormack, Clarke and Buettcher, SIGIR
2009) hide it too, and lose much when one side is weak, as an English embedder is on Korean pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Scores = Mapping[str, float]
Weights = Mapping[str, float]
"""Weight of the first side, in [0, 1], by key; the second side gets the rest. Only these keys are wanted: the
scores of both sides may have more, which tell how good those of the wanted keys are."""

BEST_SHARE = 0.1
"""Share of the words' score that is measured by the best match instead of by the question."""


@dataclass(frozen=True, slots=True)
class WordScores:
    """BM25 scores with the most that the question could score."""

    scores: Scores
    ceiling: float

    def shares(self) -> dict[str, float]:
        """In [0, 1], zero being no word in common."""
        best = max(self.scores.values(), default=0.0)
        most = max(self.ceiling, best)
        return {
            key: (1 - BEST_SHARE) * score / most + BEST_SHARE * score / best
            for key, score in self.scores.items()
        }


Fusion = Callable[[Scores, WordScores, Weights], dict[str, float]]


def min_max(scores: Scores) -> dict[str, float]:
    """Scores moved to [0, 1] by the best and the worst of them; all 1 when they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def by_ceiling(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Weighted sum of min-max cosines and of the words' shares of what was possible."""
    return _sum(min_max(first), second.shares(), weights)


def by_best(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Weighted sum of min-max scores on both sides."""
    return _sum(min_max(first), min_max(second.scores), weights)


def by_rank(first: Scores, second: WordScores, weights: Weights, k: int = 60) -> dict[str, float]:
    """Weighted sum of 1 / (k + rank), ranks from 1; scaled so that rank 1 on both sides is 1."""
    first_shares, second_shares = _rank_shares(first, k), _rank_shares(second.scores, k)
    return _sum(first_shares, second_shares, weights)


def by_reciprocal(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Return the same with 1 / rank, as Anthropic fuses in contextual retrieval: the first ranks decide."""
    return by_rank(first, second, weights, 0)


def _sum(one: Scores, two: Scores, weights: Weights) -> dict[str, float]:
    """A key that one side lacks has 0 there."""
    return {
        key: weight * one.get(key, 0.0) + (1 - weight) * two.get(key, 0.0) for key, weight in weights.items()
    }


def _rank_shares(scores: Scores, k: int) -> dict[str, float]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: (k + 1) / (k + rank) for rank, key in enumerate(ordered, 1)}
