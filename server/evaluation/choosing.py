"""What an evaluation recommends: one way of answering, and a strategy for each kind of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from server.evaluation.comparing import Comparison, compare, values_of
from server.evaluation.metrics import percentile
from server.evaluation.rows import JudgedRow
from server.retrieval.question_kinds import QuestionKind, kind_of

DECIDING = ("ndcg@10", "recall@5", "mrr@10")
"""Metrics of ranking that decide, the first one over the others."""
BASE = "hybrid"
FEWEST = 10
"""Questions of a kind that must have been asked."""


class Asked(Protocol):
    """One way with its rows: server.evaluation.report.EvaluatedRun."""

    @property
    def name(self) -> str: ...

    @property
    def strategy(self) -> str: ...

    @property
    def flow(self) -> str: ...

    @property
    def rows(self) -> tuple[JudgedRow, ...]: ...


def recommended(runs: Sequence[Asked], comparisons: Sequence[Comparison]) -> dict[str, str] | None:
    """The way to take, with the reason. Of ways that no difference was shown between, the plainest one."""
    judged = {name for run in runs for row in run.rows for name in row.verdicts}
    metric = next((name for name in DECIDING if name in judged), "")
    if not metric:
        return None
    score = {run.name: _mean(run.rows, metric) for run in runs}
    best = max(runs, key=lambda run: score[run.name])
    equal = [run for run in runs if run is best or not _is_shown_worse(run.name, best.name, comparisons)]
    plain = min(equal, key=lambda run: (_calls(run.rows), run.strategy != BASE, _time(run.rows)))
    reason = f"{metric} {score[plain.name]:.3f}"
    if plain is not best:
        reason += f"; {best.name} has {score[best.name]:.3f}, a difference that these questions do not show"
    elif len(runs) > 1:
        reason += ", the best, and shown to be better" if len(equal) == 1 else ", the best"
    return {"way": plain.name, "strategy": plain.strategy, "flow": plain.flow, "reason": reason}


def choices(runs: Sequence[Asked]) -> dict[str, dict[str, str]]:
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
            if not strategy.startswith("auto")
        }
        if chosen := _chosen(of_kind):
            found[str(kind)] = chosen
    return found


def _chosen(rows: Mapping[str, list[JudgedRow]]) -> dict[str, str] | None:
    asked = len(rows[BASE])
    if asked < FEWEST:
        return None
    ways = {BASE: values_of(rows[BASE])} | {name: values_of(of) for name, of in rows.items() if name != BASE}
    better = [
        one
        for one in compare(ways)
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


def _mean(rows: Sequence[JudgedRow], metric: str) -> float:
    values = [row.verdicts[metric] for row in rows if metric in row.verdicts]
    return sum(values) / len(values) if values else 0.0


def _calls(rows: Sequence[JudgedRow]) -> float:
    return sum(row.used.get("calls", 0.0) for row in rows)


def _time(rows: Sequence[JudgedRow]) -> float:
    return percentile([row.search_ms for row in rows], 50) or 0.0
