"""Writes what an evaluation found: report.json for figures, answers.jsonl for reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from server.answering.response import response
from server.evaluation.run import Judged, metrics_of

REPORT, ANSWERS = "report.json", "answers.jsonl"
_COLUMNS = (
    "questions", "hit@1", "hit@5", "mrr@10", "citation_correct", "refused_unanswerable", "refused_answerable",
    "verbatim_quotes", "p50_ms", "p95_ms",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """All questions answered in one way."""

    strategy: str
    flow: str
    model: str
    judged: tuple[Judged, ...]

    def to_json(self) -> dict[str, object]:
        """As in report.json."""
        metrics, by_type = metrics_of(self.judged)
        return {
            "strategy": self.strategy,
            "flow": self.flow,
            "model": self.model,
            "questions": len(self.judged),
            "metrics": metrics,
            "by_type": by_type,
        }


def write_report(folder: Path, runs: Sequence[Run]) -> None:
    """Both files in `folder`, which is made. With several runs each answer says of which it is."""
    folder.mkdir(parents=True, exist_ok=True)
    report = {"runs": [run.to_json() for run in runs]}
    text = json.dumps(report, ensure_ascii=False, indent=2)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")
    with (folder / ANSWERS).open("w", encoding="utf-8") as out:
        for run in runs:
            for one in run.judged:
                row = {**_row(one), "strategy": run.strategy, "flow": run.flow}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _row(one: Judged) -> dict[str, object]:
    return {
        "id": one.case.id,
        "type": one.case.type,
        "question": one.case.question,
        "ranked_urls": list(one.ranked_urls),
        "answer": {**response("", "", one.answer), "trace": one.answer.trace},
        "verdicts": one.verdicts,
    }


def table(run: Run) -> str:
    """The run's figures by question type, as aligned text."""
    metrics, by_type = metrics_of(run.judged)
    rows: list[tuple[str, Mapping[str, float | int | None]]] = [*by_type.items(), ("all", metrics)]
    lines = [_line("", _COLUMNS)]
    lines += [_line(name, [_figure(values.get(column)) for column in _COLUMNS]) for name, values in rows]
    return "\n".join(lines)


def _line(name: str, cells: Sequence[str]) -> str:
    widths = [max(8, len(column)) for column in _COLUMNS]
    return f"{name:<14}" + "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _figure(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}".rstrip("0").rstrip(".")
