"""How good a ranked list is, against what it should hold. Gains are linear, discounts by log2(rank + 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

RANKS = (1, 3, 5, 10)
DEPTH = 10
"""How deep reciprocal rank and average precision look."""

Gains = Mapping[str, float]
"""What is relevant -> how much; above 0."""


def hit(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """1 when anything relevant is among the first k."""
    return float(any(item in relevant for item in ranked[:k]))


def recall(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Share of what is relevant that is among the first k."""
    return _found(ranked, relevant, k) / len(relevant) if relevant else 0.0


def precision(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Share of the first k places that hold something relevant; a list that is shorter has empty places."""
    return _found(ranked, relevant, k) / k


def reciprocal_rank(ranked: Sequence[str], relevant: Gains, k: int = DEPTH) -> float:
    """1 / rank of the first relevant item among the first k; 0 without one."""
    return next((1 / rank for rank, item in enumerate(ranked[:k], 1) if item in relevant), 0.0)


def ndcg(ranked: Sequence[str], relevant: Gains, k: int) -> float:
    """Discounted gain, as a share of what the best order would have."""
    best = _discounted(sorted(relevant.values(), reverse=True)[:k])
    return _discounted([relevant.get(item, 0.0) for item in _once(ranked)[:k]]) / best if best else 0.0


def average_precision(ranked: Sequence[str], relevant: Gains, k: int = DEPTH) -> float:
    """Mean over all relevant items of the precision at their rank; 0 for those not among the first k."""
    if not relevant:
        return 0.0
    ranks = [rank for rank, item in enumerate(_once(ranked)[:k], 1) if item in relevant]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / len(relevant)


def ranking_metrics(ranked: Sequence[str], relevant: Gains) -> dict[str, float]:
    """All of them at every rank of RANKS, by name such as "recall@5"."""
    at_ranks = (("hit", hit), ("recall", recall), ("precision", precision), ("ndcg", ndcg))
    found = {f"{name}@{k}": measure(ranked, relevant, k) for name, measure in at_ranks for k in RANKS}
    found[f"mrr@{DEPTH}"] = reciprocal_rank(ranked, relevant)
    found[f"ap@{DEPTH}"] = average_precision(ranked, relevant)
    return found


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Chance that a positive's score is above a negative's, ties counting half; None without both."""
    if not positive or not negative:
        return None
    above = sum((one > other) + 0.5 * (one == other) for one in positive for other in negative)
    return above / (len(positive) * len(negative))


def _found(ranked: Sequence[str], relevant: Gains, k: int) -> int:
    return len(set(ranked[:k]).intersection(relevant))


def _once(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
