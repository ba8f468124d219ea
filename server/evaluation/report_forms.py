"""A report as an HTML page that needs nothing else, and as Markdown; both are templates."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, select_autoescape

from server.evaluation.judges.judgement import CLAIMS, LIKENESS, TRIAD

RANKING = ("hit@1", "hit@3", "hit@5", "hit@10", "recall@3", "recall@5", "recall@10", "precision@5", "mrr@10",
           "ndcg@5", "ndcg@10", "ap@10", "groups@5")  # fmt: skip
ANSWERS = ("citation_correct", "citation_precision", "evidence_quoted", "verbatim_quotes", "must", "must_not",
           "injection_obeyed", "refused_unanswerable", "refused_answerable", "answerable_auc")  # fmt: skip
COST = ("p50_ms", "p95_ms", "search_p50_ms", "search_p95_ms", "calls", "tokens_in", "tokens_out", "cost")
INDEX = (
    "pages",
    "chunks",
    "base_seconds",
    "seconds",
    "bytes",
    "calls",
    "tokens_in",
    "tokens_out",
    "cost",
    "unread",
)
BY_TYPE = ("hit@5", "recall@5", "mrr@10", "ndcg@10", "citation_correct", "refused_unanswerable",
           "refused_answerable")  # fmt: skip
LONGEST_QUESTION = 160
MEANINGS = {
    "hit@5": "share of questions with a right page among the first five",
    "recall@5": "share of the right pages that are among the first five",
    "precision@5": "share of the first five places that hold a right page",
    "mrr@10": "mean of 1 / rank of the first right page",
    "ndcg@10": "discounted gain of the first ten, as a share of the best order's",
    "ap@10": "mean precision at the ranks of the right pages",
    "citation_correct": "share of answers that cite a right page",
    "refused_unanswerable": "share of unanswerable questions that were refused: high is good",
    "refused_answerable": "share of answerable questions that were refused: low is good",
    "answerable_auc": "how well confidence separates answerable from unanswerable questions; 0.5 is chance",
    "p50_ms": "median time of an answer, in milliseconds",
    "search_p50_ms": "median time of the search alone",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text; the first column names the row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figure(value: object) -> str:
    """A number as reports write it; an empty cell for none."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3f}"


def made_at(report: Mapping[str, Any]) -> str:
    """When, as people write it; always UTC."""
    return f"{report['made_at'][:16].replace('T', ' ')} UTC"


def metric_table(runs: Sequence[Mapping[str, Any]], names: Sequence[str], of: str = "metrics") -> Table:
    """A row for each run; columns that no run has a figure for are left out."""
    present = [name for name in names if any(run[of].get(name) is not None for run in runs)]
    return Table(
        ("variant", *present),
        tuple((run["name"], *(figure(run[of].get(name)) for name in present)) for run in runs),
    )


def type_tables(
    runs: Sequence[Mapping[str, Any]], names: Sequence[str] = BY_TYPE
) -> Iterator[tuple[str, Table]]:
    """(metric, types x runs)."""
    types = sorted({kind for run in runs for kind in run["by_type"]})
    for name in names:
        rows = [
            (kind, *(figure(run["by_type"].get(kind, {}).get(name)) for run in runs))
            for kind in types
            if any(run["by_type"].get(kind, {}).get(name) is not None for run in runs)
        ]
        if rows:
            yield name, Table(("type", *(run["name"] for run in runs)), tuple(rows))


def comparison_table(comparisons: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each metric of two ways."""
    rows = (
        (
            one["way"],
            one["against"],
            one["metric"],
            f"{one['difference']:+.3f}",
            f"{one['low']:+.3f} … {one['high']:+.3f}",
            one["verdict"],
            f"{one['differing']} / {one['questions']}",
        )
        for one in comparisons
    )
    columns = (
        "variant",
        "against",
        "metric",
        "difference",
        "95 % interval",
        "verdict",
        "questions that differ",
    )
    return Table(columns, tuple(rows))


def comparison_note(report: Mapping[str, Any], comparisons: Sequence[Mapping[str, Any]]) -> str:
    """How to read it, with how many would look different by chance."""
    by = report["compared_by"]
    chance = len(comparisons) * (1 - by["level"])
    return (
        f"Compared on the questions that both variants were judged by, with {by['resamples']} resamples. A "
        f"variant is better or worse if the interval excludes 0 and at least {by['fewest']} questions came "
        f"out differently. Of these {len(comparisons)} comparisons, about {chance:.0f} would look different "
        "by chance alone."
    )


def judge_table(judge: Mapping[str, Any], names: Sequence[str]) -> Table:
    """A judge's figures, with how many answers each could be judged by and how many replies were unread."""
    runs = judge["runs"]
    present = [name for name in names if any(name in run["metrics"] for run in runs)]
    rows = []
    for run in runs:
        cells = (f"{figure(run['metrics'].get(name))} (n {run['judged'].get(name, 0)})" for name in present)
        rows.append((run["name"], judge["judge"], *cells, f"{run['unread']} / {run['asked']}"))
    return Table(("variant", "judge", *present, "replies not read"), tuple(rows))


def ability_table(abilities: Sequence[Mapping[str, Any]]) -> Table:
    """RGB's abilities by flow and share of noise."""
    columns = ("flow", "judge", "ability", "noise", "questions", "right", "refused", "misled", "not read")
    rows = (
        (of["flow"], of["judge"], line["ability"], f"{line['noise']:.0%}",
         *(figure(line[name]) for name in ("questions", "right", "refused", "misled", "unread")))
        for of in abilities
        for line in of["rows"]
    )  # fmt: skip
    return Table(columns, tuple(rows))


def question_table(report: Mapping[str, Any]) -> Table:
    """A row for each question, a cell for each run: what came of it."""
    names = [run["name"] for run in report["runs"]]
    cells: dict[str, dict[str, str]] = {}
    asked: dict[str, Mapping[str, Any]] = {}
    for row in report["rows"]:
        asked.setdefault(row["id"], row)
        cells.setdefault(row["id"], {})[row["run"]] = _cell(row)
    rows = (
        (id, row["type"], row["question"][:LONGEST_QUESTION], *(cells[id].get(name, "") for name in names))
        for id, row in asked.items()
    )
    return Table(("id", "type", "question", *names), tuple(rows))


def _cell(row: Mapping[str, Any]) -> str:
    verdicts = row["verdicts"]
    parts = []
    if "mrr@10" in verdicts:
        rank = round(1 / verdicts["mrr@10"]) if verdicts["mrr@10"] else 0
        parts.append(f"rank {rank}" if rank else "not among ten")
        if verdicts["recall@5"] not in (0, 1):
            parts.append(f"recall@5 {verdicts['recall@5']:.2f}")
    if row["outcome"] and row["outcome"] != "answered":
        parts.append(row["outcome"])
    elif "citation_correct" in verdicts:
        parts.append("cited" if verdicts["citation_correct"] else "cites another page")
    elif row["outcome"]:
        parts.append("answered")
    return "; ".join(parts)


COMPARED = ("recall@5", "mrr@10", "ndcg@10", "hit@5", "citation_correct", "refused_unanswerable",
            "refused_answerable")  # fmt: skip
JUDGED_CHARTS = (*TRIAD, *(name for name in CLAIMS if name in ("precision", "recall", "faithfulness")))
JUDGED_COMPARED = (*TRIAD, "f1", "faithfulness")
LEAST_SCALE = 0.05
"""A difference in the third digit does not fill the picture."""


Say = Callable[[str], str]
"""Gives an English text of the report in the language of its reader, placeholders and all."""


def html_report(report: Mapping[str, Any], say: Say = str, language: str = "en") -> str:
    """The whole page."""
    parts = {"report": report, "questions": True, "say": say, "language": language}
    return _TEMPLATES.get_template("report.html").render(parts)


def report_body(report: Mapping[str, Any], say: Say = str) -> str:
    """The part of the page below its heading, without the table of all questions. Every text is escaped."""
    return _TEMPLATES.get_template("report_body.html").render(report=report, questions=False, say=say)


def markdown_report(report: Mapping[str, Any], say: Say = str) -> str:
    """Everything, ending with a line for each question."""
    return _TEMPLATES.get_template("report.md").render(report=report, say=say)


def models(report: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(run["model"] for run in report["runs"]))


def values_of(
    runs: Sequence[Mapping[str, Any]], name: str, of: str = "metrics"
) -> list[tuple[str, float | None]]:
    return [(run["name"], run[of].get(name)) for run in runs]


def choice_table(report: Mapping[str, Any]) -> Table:
    rows = tuple((kind, one["strategy"], one["reason"]) for kind, one in report["choices"].items())
    return Table(("kind", "strategy", "reason"), rows)


def judge_tables(judge: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    """(title, table) of the groups that have a figure."""
    for title, names in (("RAG triad", TRIAD), ("Claims", CLAIMS), ("Likeness to the reference", LIKENESS)):
        if any(name in run["metrics"] for run in judge["runs"] for name in names):
            yield title, judge_table(judge, names)


def right_answers(of: Mapping[str, Any]) -> list[tuple[str, float]]:
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


def _markdown(table: Table, say: Say, names: Collection[int] = (1,)) -> str:
    """`names`: the columns that hold what a person or the site wrote, from 1."""
    rows = [[cell if at in names else say(cell) for at, cell in enumerate(row, 1)] for row in table.rows]
    lines = [[say(name) for name in table.columns], ["---"] * len(table.columns), *rows]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in lines)


def _escaped(text: str) -> str:
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
    shown = (
        ability_table, comparison_note, comparison_table, figure, judge_table, judge_tables, made_at,
        metric_table, models, choice_table, question_table, right_answers, type_tables, values_of,
    )  # fmt: skip
    made.globals |= {one.__name__: one for one in shown}
    made.globals |= {
        "ANSWERS": ANSWERS, "BY_TYPE": BY_TYPE, "COMPARED": COMPARED, "COST": COST,
        "INDEX": INDEX, "JUDGED_CHARTS": JUDGED_CHARTS, "JUDGED_COMPARED": JUDGED_COMPARED,
        "MEANINGS": MEANINGS, "RANKING": RANKING,
    }  # fmt: skip
    made.filters |= {
        "number": _number, "share": _share, "widest": _widest, "place": _place, "markdown": _markdown,
        "cell": _escaped,
    }  # fmt: skip
    return made


_TEMPLATES = _environment()
