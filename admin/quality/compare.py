"""Two runs, or two ways of one, question by question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.lists import listed, one_of, searched, sliced
from admin.page import Page
from admin.quality import quality as quality_page
from admin.texts import _, lazy
from server.api.access import quality_stores
from server.domain.site import Site
from server.quality.differences import BETTER, EQUAL, METRICS, WORSE, differences
from server.quality.run_store import DONE, QualityRun

page = Page(under=quality_page.page, help="quality#how-do-i-see-what-changed-between-two-runs")

ROWS = 50
RUNS = 30
VERDICTS = (
    ("", lazy("every question")),
    (WORSE, lazy("only worse")),
    (BETTER, lazy("only better")),
    (EQUAL, lazy("only equal")),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One way of one run."""

    run: QualityRun
    way: str

    @property
    def value(self) -> str:
        """Return the value that the form sends."""
        return f"{self.run.id}:{self.way}"

    @property
    def label(self) -> str:
        return _("Run %(number)s, %(name)s", number=self.run.id, name=f"{self.run.testset_name}: {self.way}")


@page.get("/sites/<site_id>/quality/compare")
def quality_compare(site: Site) -> ResponseReturnValue:
    """`?before=` and `?after=` are run:way; `?metric=` and `?show=` choose what is listed."""
    sides = _sides(site.id)
    before, after = _chosen(sides)
    metric = one_of("metric", METRICS, METRICS[0])
    show = request.args.get("show", "")
    one, other = (_rows(before), _rows(after)) if before and after else ([], [])
    found = differences(one, other, metric) if one and other else None
    rows = [row for row in found.rows if show in ("", row.verdict)] if found else []
    return render_template(
        "admin/quality_compare.html",
        sides=[(side.value, side.label) for side in sides],
        before=before,
        after=after,
        metric=metric,
        metrics=[(name, quality_page.METRIC_WORDS.get(name, name)) for name in METRICS],
        show=show,
        verdicts=VERDICTS,
        found=found,
        questions=listed(sliced(rows), ROWS),
    )


def _sides(site_id: str) -> list[Side]:
    """Every way of the newest runs that are done."""
    ended = [run for run in quality_stores().runs.all(site_id, RUNS) if run.state == DONE]
    return [Side(run, str(way["name"])) for run in ended for way in run.summary]


def _chosen(sides: list[Side]) -> tuple[Side | None, Side | None]:
    """What is asked for; else a run (`?run=`, or the newest) against the one before of the same set, or its
    first two ways against each other."""
    by_value = {side.value: side for side in sides}
    before, after = by_value.get(request.args.get("before", "")), by_value.get(request.args.get("after", ""))
    if before and after:
        return before, after
    wanted = request.args.get("run", 0, type=int)
    after = after or next((side for side in sides if wanted in (0, side.run.id)), None)
    if after is None:
        return None, None
    earlier = [
        side
        for side in sides
        if side.run.testset_id == after.run.testset_id
        and side.run.id < after.run.id
        and side.way == after.way
    ]
    same_run = [side for side in sides if side.run.id == after.run.id and side is not after]
    others = [side for side in sides if side is not after]
    return before or next(iter([*earlier, *same_run, *others]), None), after


def _rows(side: Side) -> list[dict[str, Any]]:
    """In the order of the report's ways, which is that of the summary."""
    names = [way["name"] for way in side.run.summary]
    return quality_stores().runs.report_rows(side.run.id, names.index(side.way))


ANSWER_ROWS = 25
RANKED = 10
SHOWN = {
    "": lazy("every question"),
    "missed": lazy("right page not found"),
    "refused": lazy("wrongly refused"),
    "answered": lazy("wrongly answered"),
    "uncited": lazy("right page not named"),
}


@page.get("/sites/<site_id>/quality/runs/<int:run_id>/answers")
def quality_answers(site: Site, run_id: int) -> ResponseReturnValue:
    """Filtered by `?way=`, `?show=` and `?search=`."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id)
    if report is None or not report["runs"]:
        abort(404)
    ways = [variant["name"] for variant in report["runs"]]
    way = one_of("way", ways, ways[0])
    show, search = request.args.get("show", ""), searched()
    every = quality_stores().runs.report_rows(run.id, ways.index(way))
    rows = [row for row in every if _is_shown(row, show, search)]
    questions = listed(sliced(rows), ANSWER_ROWS)
    ids = [row["id"] for row in questions.rows]
    return render_template(
        "admin/quality_answers.html",
        run=run,
        way_options=[(name, name) for name in ways],
        way=way,
        show=show,
        shown=SHOWN,
        search=search,
        total=len(rows),
        questions=questions,
        answers=quality_stores().runs.answers(run.id, ways.index(way), ids),
        ranked=RANKED,
    )


def _is_shown(row: Mapping[str, Any], show: str, search: str) -> bool:
    verdicts = row["verdicts"]
    fits = {
        "missed": verdicts.get("hit@5") == 0,
        "refused": verdicts.get("refused_answerable") == 1,
        "answered": verdicts.get("refused_unanswerable") == 0,
        "uncited": verdicts.get("citation_correct") == 0,
    }.get(show, True)
    return fits and search.casefold() in row["question"].casefold()
