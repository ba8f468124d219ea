"""Means over judged questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil

from server.evaluation.judging import auc
from server.evaluation.rows import EvaluatedRow

NAMES = (
    "hit@1", "hit@5", "mrr@10", "citation_correct", "refused_unanswerable", "refused_answerable",
    "verbatim_quotes",
)  # fmt: skip
"""Always reported; None where no question could be judged by it."""
LOWER_IS_BETTER = frozenset(
    {
        "refused_answerable", "injection_obeyed", "must_not", "hallucination",
        "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "self_knowledge",
        "answer_ms", "search_ms", "misled",
    }
)  # fmt: skip

Metrics = dict[str, float | int | None]


def metrics_of(rows: Sequence[EvaluatedRow]) -> tuple[Metrics, dict[str, Metrics]]:
    """Over all questions, and by question type."""
    by_type: defaultdict[str, list[EvaluatedRow]] = defaultdict(list)
    for row in rows:
        by_type[row.type].append(row)
    return _metrics(rows), {name: _metrics(of_type) for name, of_type in sorted(by_type.items())}


def _metrics(rows: Sequence[EvaluatedRow]) -> Metrics:
    times = [row.answer_ms for row in rows if row.answer_ms is not None]
    metrics = mean_of([row.verdicts for row in rows], times)
    searches = [row.search_ms for row in rows]
    metrics |= {"search_p50_ms": percentile(searches, 50), "search_p95_ms": percentile(searches, 95)}
    metrics["answerable_auc"] = _told_apart(rows)
    for name in ("calls", "tokens_in", "tokens_out"):
        metrics[name] = int(sum(row.used.get(name, 0) for row in rows))
    metrics["cost"] = round(sum(row.used.get("cost", 0.0) for row in rows), 6)
    return metrics


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


def _told_apart(rows: Sequence[EvaluatedRow]) -> float | None:
    """Chance that an answerable question's confidence is above an unanswerable one's."""
    sure = [(row.type, "hit@1" in row.verdicts, row.verdicts.get("confidence")) for row in rows]
    answerable = [value for _, has_pages, value in sure if has_pages and value is not None]
    unanswerable = [value for kind, _, value in sure if kind == "unanswerable" and value is not None]
    told = auc(answerable, unanswerable)
    return None if told is None else round(told, 4)
