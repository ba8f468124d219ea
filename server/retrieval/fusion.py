"""Making one ranking of two.

Weighted min-max is the default: rank fusion loses much when one side is weak, as an English
embedder is on Korean pages. Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) is
kept beside it for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Scores = Mapping[str, float]
Fusion = Callable[[Scores, Scores, Callable[[str], float]], dict[str, float]]


def min_max(scores: Scores) -> dict[str, float]:
    """Scores moved to [0, 1] by the best and the worst of them; all 1 when they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def weighted(first: Scores, second: Scores, weight_of_first: Callable[[str], float]) -> dict[str, float]:
    """Weighted sum of min-max scores; a key that one side lacks has 0 there.

    `weight_of_first` gives a key's weight in [0, 1]; the second side gets the rest.
    """
    one, two = min_max(first), min_max(second)
    return {
        key: weight_of_first(key) * one.get(key, 0.0) + (1 - weight_of_first(key)) * two.get(key, 0.0)
        for key in one.keys() | two.keys()
    }


def reciprocal_rank(
    first: Scores, second: Scores, weight_of_first: Callable[[str], float], k: int = 60
) -> dict[str, float]:
    """Weighted sum of 1 / (k + rank), ranks from 1; scaled so that rank 1 on both sides is 1."""
    one, two = _ranks(first), _ranks(second)
    fused: dict[str, float] = {}
    for key in one.keys() | two.keys():
        weight = weight_of_first(key)
        parts = (weight, one.get(key)), (1 - weight, two.get(key))
        fused[key] = sum(share * (k + 1) / (k + rank) for share, rank in parts if rank)
    return fused


def _ranks(scores: Scores) -> dict[str, int]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank for rank, key in enumerate(ordered, 1)}
