"""The quality gate of a site: by what a new index is measured, what was held back, and what becomes of it."""

from flask import render_template, request
from flask.typing import ResponseReturnValue
from wtforms import SelectField

from admin.audit import changed, unchanged
from admin.forms import UNPROCESSABLE, Decimal, Form, WholeNumber, choices, problem, ready_testsets
from admin.page import Page
from admin.people.sessions import operator_email
from admin.quality import quality as quality_page
from admin.quality.quality import CHECK_WORDS
from admin.replies import done, refused
from server.api.access import configuration, crawling, quality_stores
from server.domain.site import Site
from server.quality.gate import GATE_METRICS, needs_answers
from server.quality.gate_store import DROPPING, HELD, RELEASING, Gate

page = Page(under=quality_page.page)

CHECKS = 30


class GateForm(Form):
    """What a new index must not be worse by."""

    testset = SelectField("Test set", validate_choice=False)
    metric = SelectField("Figure", choices=choices(GATE_METRICS.items()), default="ndcg@10")
    largest_drop = Decimal("Largest drop, in points of a hundred", least=0, most=100, default=3.0)
    most = WholeNumber("Questions at most", least=1, most=2000, default=100)


@page.get("/sites/<site_id>/quality/gate")
def quality_gate(site: Site) -> ResponseReturnValue:
    gate = quality_stores().gates.get(site.id)
    values = {}
    if gate is not None:
        values = {"testset": str(gate.testset_id), "metric": gate.metric, "most": gate.most}
        values["largest_drop"] = round(100 * gate.largest_drop, 4)
    return _shown(site, GateForm(formdata=None, **values))


@page.post("/sites/<site_id>/quality/gate")
def quality_gate_set(site: Site) -> ResponseReturnValue:
    """From the next crawl on."""
    form = GateForm(request.form)
    form.validate()
    testset = next(
        (one for one in quality_stores().testsets.all(site.id) if str(one.id) == form.testset.data), None
    )
    if testset is None or not testset.is_ready:
        problem(form, "testset", "Choose a test set that holds questions.")
    if form.errors or testset is None:
        return _shown(site, form), UNPROCESSABLE
    drop = float(form.largest_drop.data or 0) / 100
    quality_stores().gates.set(Gate(site.id, testset.id, form.metric.data, drop, int(form.most.data or 1)))
    changed("set the quality gate", testset=testset.name, metric=form.metric.data, largest_drop=drop)
    return done("The gate is on. It counts from the next crawl on.", "quality_gate")


@page.post("/sites/<site_id>/quality/gate/off")
def quality_gate_off(site: Site) -> ResponseReturnValue:
    if not quality_stores().gates.remove(site.id):
        unchanged()
        return done("The gate was off already.", "quality_gate")
    changed("turned the quality gate off")
    return done(
        "The gate is off. The next crawl goes live unmeasured, with what is held back.", "quality_gate"
    )


@page.post("/sites/<site_id>/quality/gate/release")
def quality_gate_release(site: Site) -> ResponseReturnValue:
    """The index goes live though it fell short."""
    return _decided(site, RELEASING, "let an index go live that fell short", "It goes live in a moment.")


@page.post("/sites/<site_id>/quality/gate/drop")
def quality_gate_drop(site: Site) -> ResponseReturnValue:
    """The index is forgotten; the next crawl begins from the live one."""
    told = "It is being dropped. The next crawl starts from what visitors see."
    return _decided(site, DROPPING, "dropped an index that fell short", told)


def _decided(site: Site, state: str, action: str, told: str) -> ResponseReturnValue:
    held = quality_stores().gates.held(site.id)
    asked = request.form.get("check", type=int)
    if held is None or held.state != HELD or asked != held.id:
        return refused("Nothing is held back any more, or another index is: look again.", "quality_gate")
    if not crawling().control.decide(quality_stores().gates, held, state, operator_email()):
        return refused("A crawl of the site is under way: it is measured again at its end.", "quality_gate")
    changed(action, crawl=held.crawl_id, metric=held.metric, before=held.before, after=held.after)
    return done(told, "quality_gate")


def _shown(site: Site, form: GateForm) -> str:
    form.testset.choices = ready_testsets(site.id)
    return render_template(
        "admin/quality_gate.html",
        site=site,
        form=form,
        gate=quality_stores().gates.get(site.id),
        held=quality_stores().gates.held(site.id),
        checks=quality_stores().gates.history(site.id, CHECKS),
        words=CHECK_WORDS,
        has_sets=bool(form.testset.choices),
        asks_model=configuration().settings.models.uses_chat_model and needs_answers(form.metric.data or ""),
    )
