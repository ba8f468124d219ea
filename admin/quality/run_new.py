"""A new run: which test set is asked, in which ways, and who judges."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectField, SelectMultipleField, StringField
from wtforms.validators import Length

from admin.audit import changed
from admin.forms import UNPROCESSABLE, Form, WholeNumber, choices, problem, ready_testsets
from admin.page import Page
from admin.quality import quality as quality_page
from admin.replies import done
from server.answering.flows.table import FLOWS
from server.api.access import configuration, quality_stores
from server.domain.registry import UnknownName
from server.domain.roles import Role
from server.domain.site import Site
from server.retrieval.options import split_specs
from server.retrieval.table import STRATEGIES, check_spec

page = Page(under=quality_page.page)

MOST_WAYS = 24
JUDGES = (
    ("none", "nobody: what is known of the questions alone"),
    ("embedded", "counted words: no model is asked"),
    ("model", "the chat model: its calls are told before anything is paid"),
)


class RunForm(Form):
    """What is measured."""

    testset = SelectField("Test set", validate_choice=False)
    strategies = SelectMultipleField("Strategies", choices=choices((name, name) for name in STRATEGIES))
    specs = StringField(
        "Strategies with options", [Length(max=1000, message="Write at most 1,000 characters.")]
    )
    flows = SelectMultipleField("Flows", choices=choices((name, name) for name in FLOWS))
    judge = SelectField("Who judges the answers", choices=choices(JUDGES), default="none")
    abilities = WholeNumber(
        "Questions on which the writer is tried with noise", least=0, most=1000, default=0
    )
    limit = WholeNumber("Only the first questions", least=0, most=50_000, default=0)
    writes = BooleanField("Write answers (without this, pages are ranked alone)")


@page.get("/sites/<site_id>/quality/runs/new", role=Role.EDITOR)
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
    return _shown(site, form)


@page.post("/sites/<site_id>/quality/runs/new")
def quality_run_start(site: Site) -> ResponseReturnValue:
    """Queued here, carried out by the worker."""
    form = RunForm(request.form)
    form.validate()
    specs = _specs(form)
    testset = next(
        (one for one in quality_stores().testsets.all(site.id) if str(one.id) == form.testset.data), None
    )
    if testset is None or not testset.is_ready:
        problem(form, "testset", "Choose a test set that holds questions.")
    if not site.generation:
        problem(form, "testset", "The site is not read yet: crawl it first.")
    if not form.flows.errors and not form.flows.data:
        problem(form, "flows", "Choose at least one flow.")
    if len(specs) * len(form.flows.data or ()) > MOST_WAYS:
        problem(form, "flows", f"Strategies times flows may be {MOST_WAYS} at most: choose fewer.")
    if form.judge.data == "model" and not configuration().settings.models.uses_chat_model:
        problem(form, "judge", "There is no chat model: set OPENAI_API_KEY, or choose counted words.")
    if form.errors or testset is None:
        return _shown(site, form), UNPROCESSABLE
    chosen = {
        **{"strategies": specs, "flows": form.flows.data, "judge": form.judge.data},
        **{"abilities": form.abilities.data, "limit": form.limit.data, "writes": bool(form.writes.data)},
    }
    kept = configuration().settings.quality.runs_kept
    run = quality_stores().runs.queue(site.id, testset.id, testset.name, chosen, kept)
    changed("queued a quality run", run=run.id, testset=testset.name, **chosen)
    return done("The run is queued. You may leave this page.", "quality_run", run_id=run.id)


def _specs(form: RunForm) -> list[str]:
    """The strategies that are chosen, each once, as they are written shortest."""
    try:
        written = [check_spec(spec) for spec in split_specs(form.specs.data or "")]
    except UnknownName as error:
        problem(form, "specs", f"{error}."[:300])
        return []
    specs = list(dict.fromkeys([*(form.strategies.data or ()), *written]))
    if not specs:
        problem(form, "strategies", "Choose at least one strategy.")
    return specs


def _shown(site: Site, form: RunForm) -> str:
    form.testset.choices = ready_testsets(site.id)
    return render_template(
        "admin/quality_run_new.html",
        site=site,
        form=form,
        has_sets=bool(form.testset.choices),
        has_model=configuration().settings.models.uses_chat_model,
    )
