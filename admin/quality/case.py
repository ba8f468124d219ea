"""One question of a test set: added from anywhere on the dashboard, changed, taken out."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectField, StringField, TextAreaField
from wtforms.validators import DataRequired

from admin.forms import UNPROCESSABLE, Form, Lines, choices, problem
from admin.page import Page
from admin.quality import quality as quality_page
from admin.quality.check import too_many
from admin.replies import changed, done, nothing_done, to_next
from admin.stored import KINDS
from admin.texts import _, lazy
from server.api.access import configuration, quality_stores
from server.domain.roles import Role
from server.domain.site import Site
from server.evaluation.questions import TYPES
from server.quality.questions import BadQuestions, case_of, written_case
from server.quality.testset_store import StoredCase, StoredTestSet

page = Page(under=quality_page.page, role=Role.EDITOR)

LONGEST_NAME = 100
NEW = ""


class CaseForm(Form):
    """A question with what is known of its answer."""

    question = StringField(lazy("Question"), [DataRequired(lazy("Write the question as visitors ask it."))])
    answerable = SelectField(
        lazy("The site"),
        choices=choices([("1", lazy("can answer it")), ("0", lazy("cannot answer it"))]),
        default="1",
    )
    url = Lines(lazy("Pages that answer it"))


class AddForm(CaseForm):
    """To a set of choice."""

    testset = SelectField(lazy("Test set"), validate_choice=False)
    name = StringField(lazy("Name of the new test set"))


class ChangeForm(CaseForm):
    """With what only the question's own page shows."""

    answer = TextAreaField(lazy("What a right answer says"))
    kind = SelectField(
        lazy("Type"), choices=choices((name, lazy(KINDS[name])) for name in TYPES), default="lookup"
    )


@page.get("/sites/<site_id>/quality/cases")
def quality_case_new(site: Site) -> ResponseReturnValue:
    """An empty form; `?testset=` chooses the set."""
    known = quality_stores().testsets.all(site.id)
    wanted = request.args.get("testset", "")
    form = AddForm(formdata=None, testset=wanted if wanted in {str(one.id) for one in known} else NEW)
    return _add_page(known, form)


@page.post("/sites/<site_id>/quality/cases")
def quality_add_case(site: Site) -> ResponseReturnValue:
    """From the playground, a conversation, or the form above; goes back to `next`."""
    known = quality_stores().testsets.all(site.id)
    form = AddForm(request.form)
    case = _written(form) if form.validate() else None
    chosen = next((one for one in known if str(one.id) == form.testset.data), None)
    if form.testset.data and chosen is None:
        problem(form, "testset", _("This test set was deleted. Choose another one."))
    elif case is not None and (chosen is not None or _may_begin(form, known)):
        return _added(site, chosen, case, form)
    return _add_page(known, form), UNPROCESSABLE


@page.get("/sites/<site_id>/quality/sets/<int:id>/cases/<int:number>")
def quality_case(site: Site, id: int, number: int) -> ResponseReturnValue:
    stored = quality_stores().testsets.case(site.id, id, number)
    meant = case_of(stored, site, configuration().settings)
    kind = meant.type if meant.type in TYPES else "lookup"
    form = ChangeForm(
        formdata=None,
        question=stored.question,
        answerable="1" if stored.answerable else "0",
        url=json.loads(stored.line).get("expected_urls"),
        answer=meant.answer,
        kind=kind,
    )
    return _case_page(quality_stores().testsets.get(site.id, id), stored, form)


@page.post("/sites/<site_id>/quality/sets/<int:id>/cases/<int:number>")
def quality_case_change(site: Site, id: int, number: int) -> ResponseReturnValue:
    stored = quality_stores().testsets.case(site.id, id, number)
    form = ChangeForm(request.form)
    case = _written(form, stored) if form.validate() else None
    if case is None:
        return _case_page(quality_stores().testsets.get(site.id, id), stored, form), UNPROCESSABLE
    quality_stores().testsets.replace(site.id, id, case)
    changed("changed a question of a test set", testset=id, question=stored.case_id)
    return done(_("The question is saved."), "quality_testset")


@page.post("/sites/<site_id>/quality/sets/<int:id>/cases/<int:number>/remove")
def quality_case_remove(site: Site, id: int, number: int) -> ResponseReturnValue:
    if not quality_stores().testsets.take_out(site.id, id, number):
        return nothing_done(_("It was removed already."), "quality_testset")
    changed("took a question out of a test set", testset=id, question=number)
    return done(_("The question is removed."), "quality_testset")


def _written(form: CaseForm, known: StoredCase | None = None) -> StoredCase | None:
    """Return the question in the form, or None and a message at its field when it is not valid."""
    answer, kind = (form.answer.data or "", form.kind.data) if isinstance(form, ChangeForm) else ("", "")
    try:
        return written_case(
            form.question.data, list(form.url.data), answerable=form.answerable.data == "1",
            answer=answer.strip(), kind=kind, known=known,
        )  # fmt: skip
    except BadQuestions as error:
        problem(form, "url" if "page" in str(error) else "question", str(error))
        return None


def _may_begin(form: AddForm, known: list[StoredTestSet]) -> bool:
    most = configuration().settings.quality.testsets_per_site
    if len(form.name.data or "") > LONGEST_NAME:
        problem(form, "name", _("Choose a name of at most 100 characters."))
    elif len(known) >= most:
        problem(form, "testset", too_many(most))
    else:
        return True
    return False


def _added(site: Site, chosen: StoredTestSet | None, case: StoredCase, form: AddForm) -> ResponseReturnValue:
    most = configuration().settings.quality.testset_questions
    if chosen is not None and (chosen.is_open or chosen.count >= most):
        problem(form, "testset", _not_now(chosen, most))
        return _add_page(quality_stores().testsets.all(site.id), form), UNPROCESSABLE
    if chosen is None:
        day = datetime.now(UTC).strftime("%Y-%m-%d")
        chosen = quality_stores().testsets.create(
            site.id, (form.name.data or "").strip() or _("Questions of %(day)s", day=day), "hand"
        )
    copied = replace(case, from_visitor="from_visitor" in request.form)
    kept = quality_stores().testsets.add(site.id, chosen.id, copied)
    changed("added a question to a test set", testset=chosen.id, question=kept.case_id)
    flash(_("The question is saved to “%(name)s”.", name=chosen.name), "done")
    here = url_for("admin.quality_testset", site_id=site.id, id=chosen.id)
    return to_next(here)


def _not_now(chosen: StoredTestSet, most: int) -> str:
    if chosen.is_open:
        return _("This test set is being made. Wait a moment or choose another one.")
    return _(
        "This test set has %(most)s questions, which is the limit. Choose another one.", most=f"{most:,}"
    )


def _add_page(known: list[StoredTestSet], form: AddForm) -> str:
    form.testset.choices = choices([*((str(one.id), one.name) for one in known), (NEW, lazy("A new one"))])
    return render_template(
        "admin/quality_case.html", form=form, testset=None, stored=None,
        next=request.form.get("next", ""),
    )  # fmt: skip


def _case_page(testset: StoredTestSet, stored: StoredCase, form: ChangeForm) -> str:
    return render_template("admin/quality_case.html", form=form, testset=testset, stored=stored)
