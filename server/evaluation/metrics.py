"""Means over judged questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil

NAMES = (
    "hit@1", "hit@5", "mrr@10", "citation_correct", "refused_unanswerable", "refused_answerable",
    "verbatim_quotes",
)  # fmt: skip
"""Always reported; None where no question could be judged by it."""

Metrics = dict[str, float | int | None]


def mean_of(verdicts: Sequence[Mapping[str, float]], times_ms: Sequence[float]) -> Metrics:
    """Each metric's mean over the questions that it could judge, and percentiles of the time taken."""
    by_name: defaultdict[str, list[float]] = defaultdict(list)
    for judged in verdicts:
        for name, value in judged.items():
            by_name[name].append(value)
    further = sorted(by_name.keys() - set(NAMES))
    metrics: Metrics = {"questions": len(verdicts)}
    for name in (*NAMES, *further):
        values = by_name.get(name)
        metrics[name] = round(sum(values) / len(values), 4) if values else None
    metrics["p50_ms"] = percentile(times_ms, 50)
    metrics["p95_ms"] = percentile(times_ms, 95)
    return metrics


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that at least `percent` of all are not above; None for no values."""
    if not values:
        return None
    return round(sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)], 2)
