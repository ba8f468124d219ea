"""What each way of a run made of each question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from admin.pages import quality as quality_page
from admin.paging import listed
from server.services.quality.differences import ways_of

page = Page(under=quality_page.page)

ROWS = 25
RANKED = 10
SHOWN = {
    "": "every question",
    "missed": "missed: no right page among five",
    "refused": "refused wrongly",
    "answered": "answered though it should be refused",
    "uncited": "right page not cited",
}


@page.get("/sites/<site_id>/quality/runs/<int:run_id>/answers")
def quality_answers(site_id: str, run_id: int) -> ResponseReturnValue:
    """Filtered by `?way=`, `?show=` and `?search=`."""
    site, run = services().sites.get(site_id), services().quality_runs.get(site_id, run_id)
    report = services().quality_runs.report_head(run.id)
    if report is None or not report["runs"]:
        abort(404)
    ways = ways_of(report)
    way = request.args.get("way", "")
    way = way if way in ways else ways[0]
    show, search = request.args.get("show", ""), request.args.get("search", "").strip()[:200]
    every = services().quality_runs.report_rows(run.id, ways.index(way))
    rows = [row for row in every if _is_shown(row, show, search)]
    questions = listed(lambda limit, offset: rows[offset : offset + limit], ROWS)
    ids = [row["id"] for row in questions.rows]
    return render_template(
        "admin/quality_answers.html",
        site=site,
        run=run,
        way_options=[(name, name) for name in ways],
        way=way,
        show=show,
        shown=SHOWN,
        search=search,
        total=len(rows),
        questions=questions,
        answers=services().quality_runs.answers(run.id, ways.index(way), ids),
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
