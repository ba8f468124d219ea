"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from server.evaluation.judges.judgement import CLAIMS, LIKENESS, TRIAD
from server.evaluation.report_tables import (
    ANSWERS,
    COST,
    INDEX,
    RANKING,
    Table,
    ability_table,
    comparison_note,
    comparison_table,
    judge_table,
    made_at,
    metric_table,
    question_table,
    type_tables,
)


def markdown_report(report: Mapping[str, Any]) -> str:
    """Everything of it, ending with a line for each question."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Mapping[str, Any]) -> Iterator[str]:
    runs = report["runs"]
    yield f"# Evaluation of {_cell(report['site']['name'])}"
    models = ", ".join(dict.fromkeys(run["model"] for run in runs))
    yield f"{report['questions']['count']} questions, answers by {_cell(models)}, {made_at(report)}."
    if report["recommended"]:
        yield f"Recommended: **{report['recommended']['way']}** ({report['recommended']['reason']})."
    for title, names in (("Ranking", RANKING), ("Answers", ANSWERS), ("Cost of the questions", COST)):
        yield f"## {title}"
        yield _table(metric_table(runs, names))
    yield "## Indexes"
    yield _table(metric_table(runs, INDEX, "index"))
    if report["comparisons"]:
        yield "## Compared"
        yield comparison_note(report, report["comparisons"])
        yield _table(comparison_table(report["comparisons"]))
    if report["choices"]:
        yield "## By kind of question"
        yield "\n".join(
            f"- {kind}: {one['strategy']} ({one['reason']})" for kind, one in report["choices"].items()
        )
    yield "## By type"
    for name, by_type in type_tables(runs):
        yield f"### {name}"
        yield _table(by_type)
    yield from _judged(report)
    yield "## Question by question"
    yield _table(question_table(report))


def _judged(report: Mapping[str, Any]) -> Iterator[str]:
    for judge in report["judges"]:
        yield f"## Judged by: {_cell(judge['judge'])}"
        for title, names in (
            ("RAG triad", TRIAD),
            ("Claims", CLAIMS),
            ("Likeness to the reference", LIKENESS),
        ):
            if any(name in run["metrics"] for run in judge["runs"] for name in names):
                yield f"### {title}"
                yield _table(judge_table(judge, names))
        if judge["comparisons"]:
            yield "### Compared"
            yield comparison_note(report, judge["comparisons"])
            yield _table(comparison_table(judge["comparisons"]))
    if any(of["rows"] for of in report["abilities"]):
        yield "## Abilities of the writer"
        yield _table(ability_table(report["abilities"]))


def _table(table: Table) -> str:
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    """Text that stays in its cell: no line breaks, nothing that Markdown or HTML takes for its own."""
    flat = " ".join(text.split())
    for mark in ("\\", "|", "`", "[", "]", "*"):
        flat = flat.replace(mark, f"\\{mark}")
    return flat.replace("<", "&lt;")
