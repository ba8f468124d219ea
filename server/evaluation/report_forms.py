"""A report as an HTML page that needs nothing else, and as Markdown; both are templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, select_autoescape

from server.evaluation import report_tables
from server.evaluation.judges.judgement import CLAIMS, LIKENESS, TRIAD
from server.evaluation.report_tables import Table, judge_table

COMPARED = ("recall@5", "mrr@10", "ndcg@10", "hit@5", "citation_correct", "refused_unanswerable",
            "refused_answerable")  # fmt: skip
DRAWN = ("hit@5", "recall@5", "mrr@10", "ndcg@10", "citation_correct", "refused_unanswerable",
         "refused_answerable")  # fmt: skip
JUDGED_CHARTS = (*TRIAD, *(name for name in CLAIMS if name in ("precision", "recall", "faithfulness")))
JUDGED_COMPARED = (*TRIAD, "f1", "faithfulness")
LEAST_SCALE = 0.05
"""A difference in the third digit does not fill the picture."""


def html_report(report: Mapping[str, Any]) -> str:
    """The whole page."""
    return _TEMPLATES.get_template("report.html").render(report=report, questions=True)


def report_body(report: Mapping[str, Any]) -> str:
    """The part of the page below its heading, without the table of all questions. Every text is escaped."""
    return _TEMPLATES.get_template("report_body.html").render(report=report, questions=False)


def markdown_report(report: Mapping[str, Any]) -> str:
    """Everything, ending with a line for each question."""
    return _TEMPLATES.get_template("report.md").render(report=report)


def _models(report: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(run["model"] for run in report["runs"]))


def _values_of(
    runs: Sequence[Mapping[str, Any]], name: str, of: str = "metrics"
) -> list[tuple[str, float | None]]:
    return [(run["name"], run[of].get(name)) for run in runs]


def _choice_table(report: Mapping[str, Any]) -> Table:
    rows = tuple((kind, one["strategy"], one["reason"]) for kind, one in report["choices"].items())
    return Table(("kind", "strategy", "reason"), rows)


def _judge_tables(judge: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    """(title, table) of the groups that have a figure."""
    for title, names in (("RAG triad", TRIAD), ("Claims", CLAIMS), ("Likeness to the reference", LIKENESS)):
        if any(name in run["metrics"] for run in judge["runs"] for name in names):
            yield title, judge_table(judge, names)


def _right_answers(of: Mapping[str, Any]) -> list[tuple[str, float]]:
    lines = [line for line in of["rows"] if line["right"] is not None]
    return [(f"{line['ability']}, {line['noise']:.0%} noise", line["right"]) for line in lines]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 10 else f"{value:.3f}"


def _share(value: float | None, most: float) -> str:
    return f"{100 * min(1.0, max(0.0, (value or 0.0) / most)):.2f}%"


def _widest(comparisons: Sequence[Mapping[str, Any]]) -> float:
    return max(LEAST_SCALE, *(max(abs(float(one["low"])), abs(float(one["high"]))) for one in comparisons))


def _place(value: float, widest: float) -> str:
    return f"{50 + 48 * value / widest:.2f}%"


def _markdown(table: Table) -> str:
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    """Text that stays in its cell: no line breaks, nothing that Markdown or HTML takes for its own."""
    flat = " ".join(text.split())
    for mark in ("\\", "|", "`", "[", "]", "*"):
        flat = flat.replace(mark, f"\\{mark}")
    return flat.replace("<", "&lt;")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(("html",)),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {name: value for name, value in vars(report_tables).items() if not name.startswith("_")}
    made.globals |= {
        "COMPARED": COMPARED, "DRAWN": DRAWN, "JUDGED_CHARTS": JUDGED_CHARTS, "models": _models,
        "JUDGED_COMPARED": JUDGED_COMPARED, "values_of": _values_of, "choice_table": _choice_table,
        "judge_tables": _judge_tables, "right_answers": _right_answers,
    }  # fmt: skip
    made.filters |= {
        "number": _number, "share": _share, "widest": _widest, "place": _place, "markdown": _markdown,
        "cell": _cell,
    }  # fmt: skip
    return made


_TEMPLATES = _environment()
