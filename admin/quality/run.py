"""Runs of a test set: a new one, how far it is, what it came to, and what to do with that."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import BooleanField, SelectField, SelectMultipleField, StringField
from wtforms.validators import Length

from admin.formats import report_text
from admin.forms import UNPROCESSABLE, WholeNumber, choices, problem
from admin.page import Page
from admin.quality import quality as quality_page
from admin.replies import changed, done, download, nothing_done, progress, refused
from admin.texts import _, language, lazy
from server.answering.flows.table import FLOWS
from server.api.access import configuration, crawling, quality_stores, stores
from server.domain.registry import UnknownName
from server.domain.roles import Role
from server.domain.site import Site
from server.evaluation.report_forms import html_report, markdown_report, report_body
from server.quality.run_store import ASKS, DONE, QualityRun
from server.quality.runs import AGREED, answer_lines, json_report
from server.retrieval.options import CHOSEN, split_specs
from server.retrieval.table import STRATEGIES, check_spec

page = Page(under=quality_page.page, help="quality#what-does-the-report-of-a-run-say")

FORMS = {"html": "text/html", "json": "application/json", "md": "text/markdown", "jsonl": "application/jsonl"}


@page.get("/sites/<site_id>/quality/runs/<int:run_id>")
def quality_run(site: Site, run_id: int) -> ResponseReturnValue:
    """Show the state of a run, and its report once there is one."""
    run = quality_stores().runs.get(site.id, run_id)
    return render_template("admin/quality_run.html", **_shown(run))


@page.get("/sites/<site_id>/quality/runs/<int:run_id>/progress")
def quality_run_progress(site: Site, run_id: int) -> ResponseReturnValue:
    """Polled by progress.js."""
    run = quality_stores().runs.get(site.id, run_id)
    version = f"{run.state} {run.wanted} {run.step} {run.done} {run.total}"
    return progress("admin/_quality_run.html", active=run.is_open, version=version, **_shown(run))


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
        return nothing_done(_("The run had ended already."), "quality_run")
    changed("stopped a quality run", run=run.id)
    return done(_("The run stops after the current question. Finished questions are kept."), "quality_run")


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/resume")
def quality_run_resume(site: Site, run_id: int) -> ResponseReturnValue:
    run = quality_stores().runs.get(site.id, run_id)
    if not quality_stores().runs.resume(site.id, run_id):
        return refused(_("The run is running already, or is done."), "quality_run")
    changed("resumed a quality run", run=run.id)
    return done(_("The run continues."), "quality_run")


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/agree")
def quality_run_agree(site: Site, run_id: int) -> ResponseReturnValue:
    """What it costs of models is agreed to."""
    run = quality_stores().runs.get(site.id, run_id)
    if run.state != ASKS or not quality_stores().runs.agree(site.id, run_id, {**run.chosen, AGREED: True}):
        return refused(_("The run no longer waits for this."), "quality_run")
    changed("agreed to what a quality run costs", run=run.id, **run.chosen.get("costs", {}))
    return done(_("The run continues."), "quality_run")


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/remove")
def quality_run_remove(site: Site, run_id: int) -> ResponseReturnValue:
    if not quality_stores().runs.remove(site.id, run_id):
        return nothing_done(_("It was deleted already."), "quality_site")
    changed("deleted a quality run", run=run_id)
    return done(_("Run %(number)s is deleted.", number=run_id), "quality_site")


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/use")
def quality_run_use(site: Site, run_id: int) -> ResponseReturnValue:
    """The site answers by one of the ways from now on; what its index lacks is built by a crawl."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id) or {"runs": []}
    way = next((one for one in report["runs"] if one["name"] == request.form.get("way", "")), None)
    if way is None:
        return refused(_("Choose one of the variants of this run."), "quality_run")
    if (site.strategy, site.flow) == (way["strategy"], way["flow"]):
        return nothing_done(_("%(site)s uses it already.", site=site.name), "quality_run")
    stores().sites.update(replace(site, strategy=way["strategy"], flow=way["flow"]))
    changed("took the way that a quality run showed", run=run.id, before=site.strategy, now=way["name"])
    if site.strategy != way["strategy"]:
        crawling().start(site.id)
        message = _("%(site)s uses it now, and is crawled again for it.", site=site.name)
        return done(message, "quality_run")
    return done(_("%(site)s uses it now.", site=site.name), "quality_run")


@page.post("/sites/<site_id>/quality/runs/<int:run_id>/choices")
def quality_run_choices(site: Site, run_id: int) -> ResponseReturnValue:
    """What the strategy auto chooses for each kind of question."""
    run = quality_stores().runs.get(site.id, run_id)
    report = quality_stores().runs.report_head(run.id)
    if not report or not report["choices"]:
        message = _("No search method was better than the standard one for any kind of question.")
        return refused(message, "quality_run")
    stores().sites.update(replace(site, options={**site.options, CHOSEN: report["choices"]}))
    chosen = {kind: one["strategy"] for kind, one in report["choices"].items()}
    changed("let auto choose by a quality run", run=run.id, choices=chosen)
    if site.strategy.partition("[")[0] == "auto":
        crawling().start(site.id)
    return done(_("Saved for the search method that chooses by the kind of question."), "quality_run")


def _file(run: QualityRun, report: dict[str, Any], form: str) -> str | bytes | Iterator[bytes]:
    if form == "jsonl":
        return answer_lines(quality_stores().runs, run.id)
    if form == "json":
        return json_report(report)
    if form == "md":
        return markdown_report(report, report_text)
    return html_report(report, report_text, language())


def _shown(run: QualityRun) -> dict[str, Any]:
    waits = run.state == "waiting"
    before = quality_stores().runs.before(run) if waits else 0
    report = quality_stores().runs.report_head(run.id) if run.state == DONE else None
    return {
        "report": report,
        # The body of the report as it is written to files; every text in it is escaped there.
        "body": Markup(report_body(report, report_text)) if report is not None else "",
        "run": run,
        "before": before,
        "asks": run.state == ASKS,
        "can_resume": run.state in ("stopped", "failed"),
    }


new_page = Page(under=quality_page.page, role=Role.EDITOR)

MOST_WAYS = 24
JUDGES = (
    ("none", lazy("nobody")),
    ("embedded", lazy("counting words, without a model")),
    ("model", lazy("the chat model; the cost is shown first")),
)


class RunForm(quality_page.TestsetForm):
    """What is measured."""

    strategies = SelectMultipleField(
        lazy("Search methods"),
        choices=choices((name, quality_page.STRATEGY_WORDS.get(name, name)) for name in STRATEGIES),
    )
    specs = StringField(
        lazy("Search methods with options"),
        [Length(max=1000, message=lazy("Write at most 1,000 characters."))],
    )
    flows = SelectMultipleField(
        lazy("Checks"), choices=choices((name, quality_page.FLOW_WORDS.get(name, name)) for name in FLOWS)
    )
    judge = SelectField(lazy("Who judges the answers"), choices=choices(JUDGES), default="none")
    abilities = WholeNumber(lazy("Questions with misleading pages"), least=0, most=1000, default=0)
    limit = WholeNumber(lazy("Only the first questions"), least=0, most=50_000, default=0)
    writes = BooleanField(lazy("Write answers (otherwise only pages are found)"))


@new_page.get("/sites/<site_id>/quality/runs/new")
def quality_run_new(site: Site) -> ResponseReturnValue:
    """`?testset=` chooses the set."""
    name = site.strategy if site.strategy in STRATEGIES else ""
    form = RunForm(
        formdata=None,
        testset=request.args.get("testset", ""),
        strategies=[name] if name else [],
        specs="" if name else site.strategy,
        flows=[site.flow],
        writes=True,
    )
    return _form_shown(form)


@new_page.post("/sites/<site_id>/quality/runs/new")
def quality_run_start(site: Site) -> ResponseReturnValue:
    """Queued here, carried out by the worker."""
    form = RunForm(request.form)
    form.validate()
    specs = _specs(form)
    testset = form.chosen_testset()
    if not site.generation:
        problem(form, "testset", _("Crawl the site first."))
    if not form.flows.errors and not form.flows.data:
        problem(form, "flows", _("Choose at least one."))
    if len(specs) * len(form.flows.data or ()) > MOST_WAYS:
        problem(form, "flows", _("At most %(most)s variants in one run: choose fewer.", most=MOST_WAYS))
    if form.judge.data == "model" and not configuration().settings.models.uses_chat_model:
        problem(form, "judge", _("There is no chat model. Set one under Settings, Models."))
    if form.errors or testset is None:
        return _form_shown(form), UNPROCESSABLE
    chosen = {"strategies": specs, "flows": form.flows.data, "judge": form.judge.data}
    chosen |= {"abilities": form.abilities.data, "limit": form.limit.data, "writes": bool(form.writes.data)}
    kept = configuration().settings.quality.runs_kept
    run = quality_stores().runs.queue(site.id, testset.id, testset.name, chosen, kept)
    changed("queued a quality run", run=run.id, testset=testset.name, **chosen)
    return done(_("The run starts soon. You can leave this page."), "quality_run", run_id=run.id)


def _specs(form: RunForm) -> list[str]:
    """The strategies that are chosen, each once, as they are written shortest."""
    try:
        written = [check_spec(spec) for spec in split_specs(form.specs.data or "")]
    except UnknownName as error:
        problem(form, "specs", f"{error}."[:300])
        return []
    specs = list(dict.fromkeys([*(form.strategies.data or ()), *written]))
    if not specs:
        problem(form, "strategies", _("Choose at least one search method."))
    return specs


def _form_shown(form: RunForm) -> str:
    has_sets = bool(form.testset.choices)
    return render_template("admin/quality_run_new.html", form=form, has_sets=has_sets)
