"""Quality of one site: its test sets, their runs, the figures over time, and the gate."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from admin.pages import quality as quality_page
from admin.paging import listed
from admin.quality_trend import METRICS, trend_of
from admin.quality_words import CHECK_WORDS, MAIN, ORIGINS

page = Page(under=quality_page.page)

RUNS = 20


@page.get("/sites/<site_id>/quality")
def quality_site(site_id: str) -> ResponseReturnValue:
    """`?set=` and `?metric=` choose what is drawn over time."""
    found = services()
    site = found.sites.get(site_id)
    testsets = found.testsets.all(site_id)
    gate = found.gates.get(site_id)
    drawn = _drawn([one.id for one in testsets])
    metric = request.args.get("metric", "")
    metric = metric if metric in METRICS else METRICS[0]
    return render_template(
        "admin/quality_site.html",
        site=site,
        testsets=testsets,
        runs=listed(lambda limit, offset: found.quality_runs.all(site_id, limit, offset), RUNS),
        gate=gate,
        gate_set=next((one for one in testsets if gate and one.id == gate.testset_id), None),
        held=found.gates.held(site_id),
        checks=found.gates.history(site_id, 5),
        drawn=drawn,
        metric=metric,
        set_options=[(one.id, one.name) for one in testsets],
        metric_options=[(name, name) for name in METRICS],
        first_metric=METRICS[0],
        trend=trend_of(found.quality_runs.ended_of(drawn), metric) if drawn else None,
        origins=ORIGINS,
        check_words=CHECK_WORDS,
        main=MAIN,
    )


def _drawn(ids: list[int]) -> int:
    """The set whose figures are drawn: that asked for, else the newest that was run."""
    wanted = request.args.get("set", 0, type=int)
    if wanted in ids:
        return wanted
    return next((id for id in ids if services().quality_runs.ended_of(id, 1)), 0)
