"""The report as one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from server.evaluation.judges.judgement import CLAIMS, LIKENESS, TRIAD
from server.evaluation.report_charts import bars, intervals, times
from server.evaluation.report_style import STYLE
from server.evaluation.report_tables import (
    ANSWERS,
    COST,
    INDEX,
    MEANINGS,
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

DRAWN = (
    "hit@5",
    "recall@5",
    "mrr@10",
    "ndcg@10",
    "citation_correct",
    "refused_unanswerable",
    "refused_answerable",
)
COMPARED = ("recall@5", "mrr@10", "ndcg@10", "hit@5", "citation_correct", "refused_unanswerable",
            "refused_answerable")  # fmt: skip
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_report(report: Mapping[str, Any]) -> str:
    """The whole page."""
    title = escape(f"Evaluation of {report['site']['name']}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>\n"
        f"<h1>{title}</h1>\n" + "\n".join(report_parts(report)) + "\n</main></body></html>\n"
    )


def report_parts(report: Mapping[str, Any], *, questions: bool = True) -> Iterator[str]:
    """What stands below the heading, as HTML in which every text is escaped; the table of all questions only
    with `questions`."""
    runs = report["runs"]
    models = escape(", ".join(dict.fromkeys(run["model"] for run in runs)))
    types = ", ".join(f"{kind} {count}" for kind, count in report["questions"]["types"].items())
    yield (
        f'<p class="soft">{report["questions"]["count"]} questions ({escape(types)}), answers by {models}, '
        f"{escape(made_at(report))}</p>"
    )
    if told := report["recommended"]:
        yield f'<p class="told"><b>{escape(told["way"])}</b> is recommended: {escape(told["reason"])}.</p>'
    yield "<h2>Ranking and answers</h2>"
    yield _cards(_drawn(runs))
    yield _behind("All figures of rankings", metric_table(runs, RANKING))
    yield _behind("All figures of answers", metric_table(runs, ANSWERS))
    yield from _compared(report, report["comparisons"], COMPARED, "Are the differences real?")
    yield "<h2>Time and money</h2>"
    yield _cards(_timed(runs))
    yield _behind("Time, calls, tokens and money of the questions", metric_table(runs, COST))
    yield _behind("Indexes: size, and what building them took", metric_table(runs, INDEX, "index"))
    yield from _by_kind(report)
    yield from _judged(report)
    if not questions:
        return
    yield "<h2>Question by question</h2>"
    yield _behind("Every question, and what each way made of it", question_table(report), texts=True)


def _drawn(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name in DRAWN:
        values = [(run["name"], run["metrics"].get(name)) for run in runs]
        if any(value is not None for _, value in values):
            yield bars(name, MEANINGS.get(name, ""), values)


def _timed(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for title, middle, slow in (
        ("Search", "search_p50_ms", "search_p95_ms"),
        ("Whole answer", "p50_ms", "p95_ms"),
    ):
        values = [(run["name"], run["metrics"].get(middle), run["metrics"].get(slow)) for run in runs]
        if any(value is not None for _, value, _ in values):
            yield times(title, "milliseconds: median / slowest of twenty", values)
    for title, name, of in (
        ("Calls of models, by questions", "calls", "metrics"),
        ("Seconds to build", "seconds", "index"),
    ):
        counted = [(run["name"], run[of].get(name)) for run in runs]
        if any(value for _, value in counted):
            yield bars(title, "", counted, max(value or 0.0 for _, value in counted))


def _compared(
    report: Mapping[str, Any], comparisons: Sequence[Mapping[str, Any]], names: Sequence[str], title: str
) -> Iterator[str]:
    """Charts against the first way, the table with all pairs behind them."""
    if not comparisons:
        return
    first = comparisons[0]["against"]
    yield f"<h2>{escape(title)}</h2>" if title else ""
    yield f'<p class="soft">{escape(comparison_note(report, comparisons))}</p>'
    charts = []
    for name in names:
        shown = [one for one in comparisons if one["metric"] == name and one["against"] == first]
        if shown:
            charts.append(intervals(name, f"against {first}", shown))
    yield _cards(charts)
    yield _behind("All pairs and metrics", comparison_table(comparisons))


def _by_kind(report: Mapping[str, Any]) -> Iterator[str]:
    if len(report["questions"]["types"]) > 1:
        yield "<h2>By type of question</h2>"
        for place, (name, table) in enumerate(type_tables(report["runs"])):
            yield _behind(name, table, is_open=not place)
    if report["choices"]:
        rows = tuple((kind, one["strategy"], one["reason"]) for kind, one in report["choices"].items())
        yield _behind("What auto would choose", Table(("kind", "strategy", "reason"), rows), texts=True)


def _judged(report: Mapping[str, Any]) -> Iterator[str]:
    for judge in report["judges"]:
        yield f"<h2>Judged by: {escape(judge['judge'])}</h2>"
        unread = sum(run["unread"] for run in judge["runs"])
        asked = sum(run["asked"] for run in judge["runs"])
        if asked:
            yield f"<p>{asked} replies were asked for; {unread} could not be read and count nowhere.</p>"
        names = [
            name for name in (*TRIAD, *CLAIMS, *LIKENESS) if any(name in r["metrics"] for r in judge["runs"])
        ]
        yield _cards(
            bars(name, "", [(run["name"], run["metrics"].get(name)) for run in judge["runs"]])
            for name in names
            if name in (*TRIAD, "precision", "recall", "faithfulness")
        )
        for title, of in (("RAG triad", TRIAD), ("Claims", CLAIMS), ("Likeness to the reference", LIKENESS)):
            if set(of).intersection(names):
                yield _behind(title, judge_table(judge, of))
        yield from _compared(report, judge["comparisons"], (*TRIAD, "f1", "faithfulness"), "")
    if any(of["rows"] for of in report["abilities"]):
        yield "<h2>Abilities of the writer</h2>"
        yield (
            '<p class="soft">The writer was given passages: right ones with noise between them, noise alone, '
            "right ones of several pages, and a right one beside a copy with another fact.</p>"
        )
        for of in report["abilities"]:
            lines = [line for line in of["rows"] if line["right"] is not None]
            yield _cards(
                [
                    bars(
                        f"Right answers, {of['flow']}",
                        f"judged by: {of['judge']}",
                        [(f"{line['ability']}, {line['noise']:.0%} noise", line["right"]) for line in lines],
                    )
                ]
            )
        yield _behind("All trials", ability_table(report["abilities"]))


def _cards(cards: Iterator[str] | Sequence[str]) -> str:
    return f'<div class="cards">{"".join(cards)}</div>'


def _behind(title: str, table: Table, *, texts: bool = False, is_open: bool = False) -> str:
    """A table that is shown on demand."""
    if not table.rows or len(table.columns) < 2:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    kind = ' class="texts"' if texts else ""
    return (
        f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div></details>"
    )
