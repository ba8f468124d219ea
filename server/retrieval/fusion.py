"""Fuses the rankings of the vectors and of the words into one.

All methods are kept for comparison. On twelve test sets the weighted sum `by_ceiling` is best, in which the
word score is a share of what the whole question could score: when a question uses other words than the page,
its few matches count little, and the vectors decide. Scaling the best match to 1 (`min_max` on both sides)
hides that. So do ranks (reciprocal rank fusion: Cormack, Clarke and Buettcher, SIGIR 2009), which also lose
much when one side is weak, as an English embedder is on Korean pages.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

Scores = Mapping[str, float]
Weights = Mapping[str, float]
"""Weight of the first side, in [0, 1], by key; the second side gets the rest. The result has only these keys.
Both sides may have scores of other keys, which are used for scaling."""

BEST_SHARE = 0.1
"""Share of the word score that is relative to the best match instead of the question."""


@dataclass(frozen=True, slots=True)
class WordScores:
    """BM25 scores with the maximum that the question could score."""

    scores: Scores
    ceiling: float

    def shares(self, keys: Collection[str] | None = None) -> dict[str, float]:
        """Return scores in [0, 1], of these keys if any are given; 0 means no common word."""
        best = max(self.scores.values(), default=0.0)
        most = max(self.ceiling, best)
        return {
            key: (1 - BEST_SHARE) * score / most + BEST_SHARE * score / best
            for key, score in _some(self.scores, keys)
        }


Fusion = Callable[[Scores, WordScores, Weights], dict[str, float]]


def min_max(scores: Scores, keys: Collection[str] | None = None) -> dict[str, float]:
    """Scale scores, of these keys if any are given, to [0, 1] by the minimum and maximum of all; all are 1 if
    they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in _some(scores, keys)}


def _some(scores: Scores, keys: Collection[str] | None) -> Iterable[tuple[str, float]]:
    """Return the scores of these keys, of all without any. Many more are found than are fused."""
    return scores.items() if keys is None else [(key, scores[key]) for key in keys if key in scores]


def by_ceiling(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Return the weighted sum of min-max cosines and of word scores relative to the ceiling."""
    return _sum(min_max(first, weights), second.shares(weights), weights)


def by_best(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Return the weighted sum of min-max scores on both sides."""
    return _sum(min_max(first), min_max(second.scores), weights)


def by_rank(first: Scores, second: WordScores, weights: Weights, k: int = 60) -> dict[str, float]:
    """Return the weighted sum of 1 / (k + rank), ranks from 1, scaled so that rank 1 on both sides is 1."""
    first_shares, second_shares = _rank_shares(first, k), _rank_shares(second.scores, k)
    return _sum(first_shares, second_shares, weights)


def by_reciprocal(first: Scores, second: WordScores, weights: Weights) -> dict[str, float]:
    """Return `by_rank` with 1 / rank, as Anthropic's contextual retrieval does: the first ranks decide."""
    return by_rank(first, second, weights, 0)


def _sum(one: Scores, two: Scores, weights: Weights) -> dict[str, float]:
    """Return the weighted sum; a key that is missing on one side counts as 0 there."""
    return {
        key: weight * one.get(key, 0.0) + (1 - weight) * two.get(key, 0.0) for key, weight in weights.items()
    }


def _rank_shares(scores: Scores, k: int) -> dict[str, float]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: (k + 1) / (k + rank) for rank, key in enumerate(ordered, 1)}


FUSIONS: Mapping[str, Fusion] = {
    "weighted": by_ceiling,
    "minmax": by_best,
    "rrf": by_rank,
    "reciprocal": by_reciprocal,
}
"""By their names in the settings."""
