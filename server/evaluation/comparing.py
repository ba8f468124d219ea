"""Means over judged questions, and comparisons of variants by them.

Two variants differ when the bootstrap interval of their paired differences says so; from that follows which
one to choose for a site and for each kind of question.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from server.evaluation.judging import auc
from server.evaluation.rows import EvaluatedRow, EvaluatedRun
from server.retrieval.question_kinds import QuestionKind, kind_of

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


RESAMPLES = 10_000
SEED = 20_260
LEVEL = 0.95
FEWEST = 6
"""Questions that must come out differently. Fewer can all fall on one side by chance: five do so once in
sixteen times. A resampled interval does not see that."""
MAIN = (
    "hit@1", "hit@5", "recall@3", "recall@5", "recall@10", "precision@5", "mrr@10", "ndcg@10", "ap@10",
    "groups@5", "citation_correct", "refused_unanswerable", "refused_answerable", "must", "search_ms",
    "answer_ms",
)  # fmt: skip
TIMES = ("search_ms", "answer_ms")
"""The metrics that are no verdicts."""
_AT_ONCE = 1_000

Values = Mapping[str, float]
"""By question id."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two variants over the questions that both were judged by."""

    metric: str
    way: str
    against: str
    questions: int
    differing: int
    """Questions that came out differently."""
    difference: float
    """Mean of `way` less that of `against`."""
    low: float
    high: float
    """The 95 % interval of the difference."""
    verdict: str
    """How `way` compares: "better", "worse" or "no difference shown"."""


def compare(variants: Mapping[str, Mapping[str, Values]]) -> list[Comparison]:
    """Compare every pair of variants, by variant -> metric -> values, the later against the earlier."""
    made: list[Comparison] = []
    for against, variant in combinations(variants, 2):
        names = [name for name in variants[variant] if name in variants[against]]
        paired = {}
        for name in names:
            one, other = variants[variant][name], variants[against][name]
            paired[name] = np.array([one[id] - other[id] for id in one if id in other], np.float64)
        for size in sorted({len(found) for found in paired.values() if len(found)}):
            alike = [name for name in names if len(paired[name]) == size]
            columns = np.stack([paired[name] for name in alike], axis=1)
            for name, column, (low, high) in zip(alike, columns.T, _intervals(columns), strict=True):
                made.append(_comparison(name, variant, against, column, low, high))
    order = {
        name: place
        for place, name in enumerate(name for of_variant in variants.values() for name in of_variant)
    }
    return sorted(made, key=lambda one: (order[one.metric], list(variants).index(one.against)))


def values_of(rows: Sequence[EvaluatedRow]) -> dict[str, dict[str, float]]:
    """Metric -> question id -> value, for the main metrics."""
    found: dict[str, dict[str, float]] = {}
    for name in MAIN:
        known = ((row.id, getattr(row, name) if name in TIMES else row.verdicts.get(name)) for row in rows)
        values = {id: value for id, value in known if value is not None}
        if values:
            found[name] = values
    return found


def _intervals(columns: NDArray[np.float64]) -> Iterator[tuple[float, float]]:
    """Percentile bootstrap: one interval for each column; the rows are questions."""
    random = np.random.default_rng(SEED)
    size = len(columns)
    means = np.empty((RESAMPLES, columns.shape[1]))
    for start in range(0, RESAMPLES, _AT_ONCE):
        drawn = random.integers(0, size, (_AT_ONCE, size))
        # How often each question was drawn, times its difference: the sum over a resample.
        cells = drawn + size * np.arange(_AT_ONCE)[:, None]
        counts = np.bincount(cells.ravel(), minlength=_AT_ONCE * size).reshape(_AT_ONCE, size)
        means[start : start + _AT_ONCE] = counts @ columns / size
    tail = 100 * (1 - LEVEL) / 2
    lows, highs = np.percentile(means, (tail, 100 - tail), axis=0)
    yield from zip(lows.tolist(), highs.tolist(), strict=True)


def _comparison(
    metric: str, way: str, against: str, column: NDArray[np.float64], low: float, high: float
) -> Comparison:
    differing = int(np.count_nonzero(column))
    verdict = "no difference shown"
    if differing >= FEWEST and (low > 0 or high < 0):
        verdict = "better" if (low > 0) != (metric in LOWER_IS_BETTER) else "worse"
    figures = (round(float(column.mean()), 4), round(low, 4), round(high, 4))
    return Comparison(metric, way, against, len(column), differing, *figures, verdict)


DECIDING = ("ndcg@10", "recall@5", "mrr@10")
"""Metrics of ranking that decide, the first one over the others."""
BASE = "hybrid"
REFUSED = 0.8
"""Share of the questions without an answer that a variant must refuse to be recommended, judged on at least
FEWEST such questions."""
FEWEST_OF_KIND = 10
"""Questions of a kind that must have been asked."""


def refusing_too_little(runs: Sequence[EvaluatedRun]) -> list[str]:
    """Return a sentence about each variant that refuses too few of the questions without an answer."""
    return [
        f"{run.name} refused {sum(refused):.0f} of {len(refused)} questions that the site does not answer"
        for run in runs
        if _is_careless(refused := _refusals(run.rows))
    ]


def _refusals(rows: Sequence[EvaluatedRow]) -> list[float]:
    return [row.verdicts["refused_unanswerable"] for row in rows if "refused_unanswerable" in row.verdicts]


def _is_careless(refused: Sequence[float]) -> bool:
    return len(refused) >= FEWEST and sum(refused) < REFUSED * len(refused)


def recommended(runs: Sequence[EvaluatedRun], comparisons: Sequence[Comparison]) -> dict[str, str] | None:
    """Return the variant to take, with the reason; None when no variant is judged, or all refuse too little.
    Among variants without a proven difference, the plainest one."""
    runs = [run for run in runs if not _is_careless(_refusals(run.rows))]
    judged = {name for run in runs for row in run.rows for name in row.verdicts}
    metric = next((name for name in DECIDING if name in judged), "")
    if not metric:
        return None
    score = {}
    for run in runs:
        values = [row.verdicts[metric] for row in run.rows if metric in row.verdicts]
        score[run.name] = sum(values) / len(values) if values else 0.0
    best = max(runs, key=lambda run: score[run.name])
    equal = [run for run in runs if run is best or not _is_shown_worse(run.name, best.name, comparisons)]

    def price(run: EvaluatedRun) -> tuple[float, bool, float]:
        calls = sum(row.used.get("calls", 0.0) for row in run.rows)
        return calls, run.strategy != BASE, percentile([row.search_ms for row in run.rows], 50) or 0.0

    plain = min(equal, key=price)
    reason = f"{metric} {score[plain.name]:.3f}"
    if plain is not best:
        reason += f"; {best.name} has {score[best.name]:.3f}, a difference that these questions do not show"
    elif len(runs) > 1:
        reason += ", the best, and shown to be better" if len(equal) == 1 else ", the best"
    return {"way": plain.name, "strategy": plain.strategy, "flow": plain.flow, "reason": reason}


def choices(runs: Sequence[EvaluatedRun]) -> dict[str, dict[str, str]]:
    """Kind of question -> strategy and reason, as the strategy "auto" reads it: where one is shown to be
    better than hybrid on questions of that kind."""
    flow = runs[0].flow if runs else ""
    by_strategy = {run.strategy: run.rows for run in runs if run.flow == flow}
    if BASE not in by_strategy:
        return {}
    found: dict[str, dict[str, str]] = {}
    for kind in QuestionKind:
        of_kind = {
            strategy: [row for row in rows if kind_of(row.question) is kind and "hit@1" in row.verdicts]
            for strategy, rows in by_strategy.items()
            if not strategy.startswith("auto") and (strategy == BASE or not _is_careless(_refusals(rows)))
        }
        if chosen := _chosen(of_kind):
            found[str(kind)] = chosen
    return found


def _chosen(rows: Mapping[str, list[EvaluatedRow]]) -> dict[str, str] | None:
    asked = len(rows[BASE])
    if asked < FEWEST_OF_KIND:
        return None
    variants = {BASE: values_of(rows[BASE])} | {
        name: values_of(of) for name, of in rows.items() if name != BASE
    }
    better = [
        one
        for one in compare(variants)
        if one.against == BASE and one.metric in DECIDING and one.verdict == "better"
    ]
    if not better:
        return None
    best = max(better, key=lambda one: (-DECIDING.index(one.metric), one.difference))
    return {
        "strategy": best.way,
        "reason": f"{best.metric} {best.difference:+.3f} against hybrid on {asked} questions, "
        f"interval {best.low:+.3f} to {best.high:+.3f}",
    }


def _is_shown_worse(name: str, best: str, comparisons: Sequence[Comparison]) -> bool:
    for one in comparisons:
        if one.metric in DECIDING and {one.way, one.against} == {name, best}:
            worse = "worse" if one.way == name else "better"
            if one.verdict == worse:
                return True
    return False
