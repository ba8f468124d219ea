"""Writes what an evaluation found: report.json holds every figure, the other files are made from it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from server.evaluation.comparing import (
    FEWEST,
    LEVEL,
    RESAMPLES,
    SEED,
    choices,
    compare,
    metrics_of,
    recommended,
    refusing_too_little,
    values_of,
)
from server.evaluation.judges.abilities import TrialResult, summary
from server.evaluation.judges.judgement import CLAIMS, LIKENESS, TRIAD, Judgement, means, used_together
from server.evaluation.report_forms import html_report, markdown_report
from server.evaluation.rows import EvaluatedRow, EvaluatedRun
from server.storage.data_folder import replace_file

REPORT, MARKDOWN, PAGE, ANSWERS = "report.json", "report.md", "report.html", "answers.jsonl"
VERSION = 2
_COLUMNS = (
    "questions", "hit@1", "hit@5", "recall@5", "mrr@10", "ndcg@10", "citation_correct",
    "refused_unanswerable", "refused_answerable", "verbatim_quotes", "p50_ms", "p95_ms",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Everything that a report is made of."""

    site: str
    name: str
    runs: Sequence[EvaluatedRun]
    judge: str = ""
    judged: Mapping[str, Mapping[str, Judgement]] = field(default_factory=dict)
    """Run -> question -> what the judge says."""
    tried: Mapping[str, Sequence[TrialResult]] = field(default_factory=dict)
    """Flow -> what came of the trials of abilities."""


def report_of(found: Evaluated) -> dict[str, Any]:
    """The report as JSON values."""
    compared = compare({run.name: values_of(run.rows) for run in found.runs})
    first = found.runs[0].rows if found.runs else ()
    return {
        "version": VERSION,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "site": {"id": found.site, "name": found.name},
        "questions": {"count": len(first), "types": dict(Counter(row.type for row in first))},
        "runs": [_run(run) for run in found.runs],
        "comparisons": [asdict(one) for one in compared],
        "compared_by": {"resamples": RESAMPLES, "level": LEVEL, "seed": SEED, "fewest": FEWEST},
        "recommended": recommended(found.runs, compared),
        "refusing_too_little": refusing_too_little(found.runs),
        "choices": choices(found.runs),
        "judges": [_judge(found)] if found.judge else [],
        "abilities": [
            {"judge": found.judge, "flow": flow, "rows": summary(results)}
            for flow, results in found.tried.items()
        ],
        "rows": [_row(run, row, found) for run in found.runs for row in run.rows],
    }


def write_report(folder: Path, report: Mapping[str, Any], runs: Sequence[EvaluatedRun]) -> None:
    """All files in `folder`, which is made. With several runs each answer says of which it is."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / REPORT, orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    replace_file(folder / MARKDOWN, markdown_report(report).encode("utf-8", "replace"))
    replace_file(folder / PAGE, html_report(report).encode("utf-8", "replace"))
    answers = (_answer(run, row) for run in runs for row in run.rows)
    replace_file(folder / ANSWERS, b"".join(orjson.dumps(row, default=str) + b"\n" for row in answers))


def load_report(folder: Path) -> dict[str, Any] | None:
    """What `write_report` wrote there; None when there is nothing that can be read."""
    try:
        report = orjson.loads((folder / REPORT).read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def table(run: Mapping[str, Any]) -> str:
    """A run's figures by question type, as aligned text."""
    rows = [*run["by_type"].items(), ("all", run["metrics"])]
    lines = [_line("", _COLUMNS)]
    lines += [_line(name, [figure(values.get(column)) for column in _COLUMNS]) for name, values in rows]
    return "\n".join(lines)


def figure(value: float | int | None) -> str:
    """A number as reports write it; "-" for none."""
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}".rstrip("0").rstrip(".")


def _run(run: EvaluatedRun) -> dict[str, Any]:
    metrics, by_type = metrics_of(run.rows)
    return {
        "name": run.name,
        "strategy": run.strategy,
        "flow": run.flow,
        "model": run.model,
        "questions": len(run.rows),
        "metrics": metrics,
        "by_type": by_type,
        "index": dict(run.index),
    }


def _judge(found: Evaluated) -> dict[str, Any]:
    """The judge's own tables; its figures stand nowhere else."""
    runs = []
    columns: dict[str, dict[str, dict[str, float]]] = {}
    for run in found.runs:
        judged = found.judged[run.name]
        by_type: dict[str, list[Judgement]] = {}
        for row in run.rows:
            by_type.setdefault(row.type, []).append(judged[row.id])
        said = list(judged.values())
        columns[run.name] = {
            name: {id: one.figures[name] for id, one in judged.items() if name in one.figures}
            for name in (*TRIAD, *CLAIMS, *LIKENESS)
        }
        runs.append(
            {
                "name": run.name,
                "metrics": means(said),
                "judged": {name: sum(name in one.figures for one in said) for name in means(said)},
                "by_type": {kind: means(of_type) for kind, of_type in sorted(by_type.items())},
                "asked": sum(one.asked for one in said),
                "unread": sum(len(one.unread) for one in said),
                "unread_by": dict(Counter(what for one in said for what in one.unread)),
                **used_together(said),
            }
        )
    known = {name: {m: v for m, v in of.items() if v} for name, of in columns.items()}
    return {"judge": found.judge, "runs": runs, "comparisons": [asdict(one) for one in compare(known)]}


def _row(run: EvaluatedRun, row: EvaluatedRow, found: Evaluated) -> dict[str, Any]:
    judged = found.judged.get(run.name, {}).get(row.id)
    kept = ("id", "type", "question", "verdicts", "search_ms", "answer_ms", "used")
    return {
        **{name: getattr(row, name) for name in kept},
        "run": run.name,
        "strategy": run.strategy,
        "flow": run.flow,
        "outcome": row.answer["outcome"] if row.answer else "",
        "judgements": {found.judge: {**judged.figures, "unread": judged.unread}} if judged else {},
    }


def _answer(run: EvaluatedRun, row: EvaluatedRow) -> dict[str, Any]:
    kept = ("id", "type", "question", "ranked_urls", "answer", "verdicts")
    return {name: getattr(row, name) for name in kept} | {"strategy": run.strategy, "flow": run.flow}


def _line(name: str, cells: Sequence[str]) -> str:
    widths = [max(8, len(column)) for column in _COLUMNS]
    return f"{name[:22]:<22}" + "  ".join(
        f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
    )
