"""One run of a test set: how far it is, what it came to, and what to do with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from flask import abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from admin.access import crawling, quality_stores, stores
from admin.audit import changed, unchanged
from admin.page import Page
from admin.quality import quality as quality_page
from admin.replies import download, progress
from server.domain.site import Site
from server.evaluation.report_forms import html_report, markdown_report, report_body
from server.quality.run_store import ASKS, DONE, QualityRun
from server.quality.runs import AGREED, answer_lines, json_report
from server.retrieval.options import CHOSEN

page = Page(under=quality_page.page)

FORMS = {"html": "text/html", "json": "application/json", "md": "text/markdown", "jsonl": "application/jsonl"}


@page.get("/sites/<site_id>/quality/runs/<int:run_id>")
def quality_run(site: Site, run_id: int) -> ResponseReturnValue:
    """How it stands; the report once there is one."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id) if run.state == DONE else None
    return render_template("admin/quality_run.html", report=report, **_shown(site, run), **_told(report))


@page.get("/sites/<site_id>/quality/runs/<int:run_id>/progress")
def quality_run_progress(site: Site, run_id: int) -> ResponseReturnValue:
    """Polled by progress.js."""
    run = quality_stores().runs.get(site.id, run_id)
    version = f"{run.state} {run.wanted} {run.step} {run.done} {run.total}"
    return progress("admin/_quality_run.html", active=run.is_open, version=version, **_shown(site, run))


@page.get("/sites/<site_id>/quality/runs/<int:run_id>/report.<form>")
def quality_run_file(site: Site, run_id: int, form: str) -> ResponseReturnValue:
    """The report as a file: html, json or md; or every answer as jsonl."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report(run.id)
    if form not in FORMS or report is None:
        abort(404)
    name = f"{site.id}-run-{run.id}.{form}"
    return download(_file(run, report, form), name, FORMS[form])


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/stop")
def quality_run_stop(site: Site, run_id: int) -> ResponseReturnValue:
    run = quality_stores().runs.get(site.id, run_id)
    if not quality_stores().runs.stop(site.id, run_id):
        unchanged()
        flash("The run had ended already.", "done")
    else:
        changed("stopped a quality run", run=run.id)
        flash("The run ends after the question at hand. What it came to is kept.", "done")
    return _back(run)


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/resume")
def quality_run_resume(site: Site, run_id: int) -> ResponseReturnValue:
    run = quality_stores().runs.get(site.id, run_id)
    if quality_stores().runs.resume(site.id, run_id):
        changed("resumed a quality run", run=run.id)
        flash("The run goes on where it was.", "done")
    else:
        unchanged()
        flash("The run goes on already, or is done.", "problem")
    return _back(run)


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/agree")
def quality_run_agree(site: Site, run_id: int) -> ResponseReturnValue:
    """What it costs of models is agreed to."""
    run = quality_stores().runs.get(site.id, run_id)
    if run.state == ASKS and quality_stores().runs.agree(site.id, run_id, {**run.chosen, AGREED: True}):
        changed("agreed to what a quality run costs", run=run.id, **run.chosen.get("costs", {}))
        flash("The run goes on.", "done")
    else:
        unchanged()
        flash("The run does not wait for this any more.", "problem")
    return _back(run)


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/remove")
def quality_run_remove(site: Site, run_id: int) -> ResponseReturnValue:
    if quality_stores().runs.remove(site.id, run_id):
        changed("deleted a quality run", run=run_id)
        flash(f"Run {run_id} is deleted.", "done")
    else:
        unchanged()
        flash("It was deleted already.", "done")
    return redirect(url_for("admin.quality_site", site_id=site.id))


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/use")
def quality_run_use(site: Site, run_id: int) -> ResponseReturnValue:
    """The site answers by one of the ways from now on; what its index lacks is built by a crawl."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id) or {"runs": []}
    way = next((one for one in report["runs"] if one["name"] == request.form.get("way", "")), None)
    if way is None:
        unchanged()
        flash("Choose one of the ways of this run.", "problem")
        return _back(run)
    if (site.strategy, site.flow) == (way["strategy"], way["flow"]):
        unchanged()
        flash(f"{site.name} answers by {way['name']} already.", "done")
        return _back(run)
    stores().sites.update(replace(site, strategy=way["strategy"], flow=way["flow"]))
    changed("took the way that a quality run showed", run=run.id, before=site.strategy, now=way["name"])
    if site.strategy != way["strategy"]:
        crawling().start(site.id)
        flash(f"{site.name} answers by {way['name']} now. A crawl brings its index up to date.", "done")
    else:
        flash(f"{site.name} answers by {way['name']} now.", "done")
    return _back(run)


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/choices")
def quality_run_choices(site: Site, run_id: int) -> ResponseReturnValue:
    """What the strategy auto chooses for each kind of question."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id)
    if not report or not report["choices"]:
        unchanged()
        flash("This run shows no strategy to be better than hybrid on any kind of question.", "problem")
        return _back(run)
    stores().sites.update(replace(site, options={**site.options, CHOSEN: report["choices"]}))
    chosen = {kind: one["strategy"] for kind, one in report["choices"].items()}
    changed("let auto choose by a quality run", run=run.id, choices=chosen)
    if site.strategy.partition("[")[0] == "auto":
        crawling().start(site.id)
    flash("The strategy auto goes by this run from now on.", "done")
    return _back(run)


def _file(run: QualityRun, report: dict[str, Any], form: str) -> str | bytes | Iterator[bytes]:
    if form == "jsonl":
        return answer_lines(quality_stores().runs, run.id)
    if form == "json":
        return json_report(report)
    return html_report(report) if form == "html" else markdown_report(report)


def _back(run: QualityRun) -> ResponseReturnValue:
    return redirect(url_for("admin.quality_run", site_id=run.site_id, run_id=run.id))


def _shown(site: Site, run: QualityRun) -> dict[str, Any]:
    waits = run.state == "waiting"
    before = quality_stores().runs.before(run) if waits else 0
    return {
        "site": site,
        "run": run,
        "before": before,
        "asks": run.state == ASKS,
        "can_resume": run.state in ("stopped", "failed"),
    }


def _told(report: dict[str, Any] | None) -> dict[str, Any]:
    """The body of the report as it is written to files; every text in it is escaped there."""
    return {"body": Markup(report_body(report)) if report is not None else ""}
