"""What stands in a report's tables, for every form of it. Everything is made from report.json's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    "answerable_auc": "how well confidence tells answerable from unanswerable questions; 0.5 is chance",
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
        ("way", *present),
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
            f"{one['low']:+.3f} to {one['high']:+.3f}",
            one["verdict"],
            f"{one['differing']} of {one['questions']}",
        )
        for one in comparisons
    )
    columns = ("way", "against", "metric", "difference", "95 % interval", "verdict", "questions that differ")
    return Table(columns, tuple(rows))


def comparison_note(report: Mapping[str, Any], comparisons: Sequence[Mapping[str, Any]]) -> str:
    """How to read it, with how many would look different by chance."""
    by = report["compared_by"]
    chance = len(comparisons) * (1 - by["level"])
    return (
        f"Paired over the questions that both ways were judged by, {by['resamples']} resamples. A way counts "
        f"as better or worse when the interval leaves 0 out and at least {by['fewest']} questions came out "
        f"differently. Of these {len(comparisons)} comparisons about {chance:.0f} would look different by "
        "chance alone."
    )


def judge_table(judge: Mapping[str, Any], names: Sequence[str]) -> Table:
    """A judge's figures, with how many answers each could be judged by and how many replies were unread."""
    runs = judge["runs"]
    present = [name for name in names if any(name in run["metrics"] for run in runs)]
    rows = []
    for run in runs:
        cells = (f"{figure(run['metrics'].get(name))} (n {run['judged'].get(name, 0)})" for name in present)
        rows.append((run["name"], judge["judge"], *cells, f"{run['unread']} of {run['asked']}"))
    return Table(("way", "judge", *present, "replies not read"), tuple(rows))


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
    return ", ".join(parts)
