"""The operator's own answers of one site: list, write, change, remove, try."""

from collections.abc import Sequence
from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, StringField, TextAreaField
from wtforms.validators import DataRequired

from admin.formats import sentence, shown_answer
from admin.forms import CONFLICT, UNPROCESSABLE, Form, SharedForm, problem
from admin.lists import listed
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import changed, done, download, nothing_done
from admin.sites import sites as sites_page
from admin.texts import _, lazy, ngettext
from server.answering.shortcuts.curated import utc_today
from server.answering.shortcuts.same_question import plain
from server.api.access import configuration, dialogue, gap_work, own_answers, stores
from server.domain.answer import Answer, Outcome
from server.domain.curated import (
    COLUMNS,
    CuratedAnswer,
    CuratedFileError,
    CuratedState,
    read_answers,
    written_csv,
    written_jsonl,
)
from server.domain.gap import Gap, GapQuestion
from server.domain.site import Site
from server.gaps.gap_recheck import wordings

page = Page(tab=lazy("Answers"), under=sites_page.page, help="answers#how-do-i-write-an-answer-myself")

ROWS = 100
VARIANTS = 6
"""Wordings of a gap that its answer is for."""


class CuratedForm(SharedForm):
    """One answer with the questions that it is for."""

    question = StringField(lazy("Question"), [DataRequired(lazy("Write the question as visitors ask it."))])
    also = TextAreaField(lazy("Other ways to ask it"))
    text = TextAreaField(lazy("Answer"), [DataRequired(lazy("Write the answer."))])
    links = TextAreaField(lazy("Pages to read on"))
    language = StringField(lazy("Language"))
    valid_from = StringField(lazy("First day"))
    valid_until = StringField(lazy("Last day"))
    enabled = BooleanField(lazy("Give this answer"))

    def made(self, site_id: str) -> CuratedAnswer:
        """Raises ValueError."""
        questions = [self.question.data, *(self.also.data or "").splitlines()]
        links = (self.links.data or "").splitlines()
        days = (self.valid_from.data or "", self.valid_until.data or "")
        answer = CuratedAnswer.checked(
            site_id, questions, self.text.data, links, self.language.data or "", days
        )
        return replace(answer, enabled=bool(self.enabled.data))

    def field_of(self, message: str) -> str:
        """Which field a message of CuratedAnswer.checked is about."""
        if "last day" in message:
            return "valid_until"
        if "is not a day" in message:
            return "valid_from" if repr(self.valid_from.data) in message else "valid_until"
        if "address" in message:
            return "links"
        return "language" if "language" in message else "text"


@page.get("/sites/<site_id>/answers")
def curated(site: Site) -> ResponseReturnValue:
    """The list; with `?try=` which of them come near a question."""
    asked = request.args.get("try", "").strip()[:500]
    return render_template(
        "admin/curated.html",
        answers=listed(lambda limit, offset: stores().curated.all(site.id, limit, offset), ROWS),
        today=utc_today(),
        asked=asked,
        nearest=own_answers().nearest(site, asked) if asked else None,
        threshold=configuration().settings.retrieval.curated_threshold,
    )


@page.get("/sites/<site_id>/answers/new")
def curated_new(site: Site) -> ResponseReturnValue:
    """An empty form, or one with the question and the answer of the message in `?message=`, or with what was
    asked of the gap in `?gap=`."""
    values: dict[str, object] = {"question": "", "text": "", "language": "", "enabled": True}
    message = dialogue().questions.find(request.args.get("message", ""))
    gap = stores().gaps.find(request.args.get("gap", ""))
    if message and message.site_id == site.id:
        said = message.answer.text if message.answer.outcome is Outcome.CURATED else ""
        values |= {"question": message.question, "text": said, "language": message.language}
    elif gap and gap.site_id == site.id:
        # A follow-up says nothing without its conversation, and how it was searched nobody typed.
        known: list[Gap | GapQuestion] = [gap, *stores().gaps.questions(gap.id)]
        first, *others = wordings((one.typed for one in known if one.typed == one.question), VARIANTS) or [""]
        values |= {"question": first, "also": "\n".join(others), "language": gap.language}
    return _shown(None, CuratedForm(formdata=None, **values))


@page.post("/sites/<site_id>/answers/new")
def curated_add(site: Site) -> ResponseReturnValue:
    return _saved(site, None)


@page.get("/sites/<site_id>/answers/<int:id>")
def curated_one(site: Site, id: int) -> ResponseReturnValue:
    known = stores().curated.get(site.id, id)
    return _shown(known, filled(known).noted())


def filled(known: CuratedAnswer) -> CuratedForm:
    """The form with what is stored."""
    values = {"question": known.questions[0], "also": "\n".join(known.questions[1:]), "text": known.text}
    values |= {"links": "\n".join(known.links), "language": known.language}
    values |= {"valid_from": str(known.valid_from or ""), "valid_until": str(known.valid_until or "")}
    return CuratedForm(formdata=None, enabled=known.enabled, **values)


@page.post("/sites/<site_id>/answers/<int:id>")
def curated_change(site: Site, id: int) -> ResponseReturnValue:
    return _saved(site, stores().curated.get(site.id, id))


@page.post("/sites/<site_id>/answers/<int:id>/compare")
def curated_compare(site: Site, id: int) -> ResponseReturnValue:
    """Asks the pages once more what the answer says."""
    check = own_answers().check(site, stores().curated.get(site.id, id))
    changed("compared an own answer with the pages", answer=id)
    if not check.outcome:
        flash(_("The pages cannot be searched right now. Try again later."), "problem")
    return redirect(url_for("admin.curated_one", site_id=site.id, id=id))


@page.post("/sites/<site_id>/answers/<int:id>/remove")
def curated_remove(site: Site, id: int) -> ResponseReturnValue:
    if not stores().curated.remove(site.id, id):
        return nothing_done(_("It was removed already."), "curated")
    changed("removed an own answer", answer=id)
    return done(_("The answer is removed."), "curated")


def _saved(site: Site, known: CuratedAnswer | None) -> ResponseReturnValue:
    form = CuratedForm(request.form)
    if not form.validate():
        return _shown(known, form), UNPROCESSABLE
    try:
        made = form.made(site.id)
    except ValueError as error:
        problem(form, form.field_of(str(error)), sentence(str(error)))
        return _shown(known, form), UNPROCESSABLE
    if known and form.is_overtaken(filled(known)):
        return _shown(known, form), CONFLICT
    made = replace(made, id=known.id if known else 0)
    saved = stores().curated.save(made, operator_email())
    changed("changed an own answer" if known else "wrote an own answer", answer=saved.id)
    return done(_what_now(site, saved), "curated_one", id=saved.id)


def _what_now(site: Site, saved: CuratedAnswer) -> str:
    """Has the pages asked the same, and gaps closed that the answer meets; says what came of it."""
    own_answers().check(site, saved)
    if saved.state(utc_today()) is not CuratedState.ON:
        return _("The answer is saved. Visitors do not get it at the moment.")
    for question in _answered_twice(site, saved):
        said = _(
            "“%(question)s” has another of your answers too. Visitors get the one that was saved last: "
            "change or remove the other.",
            question=question,
        )
        flash(said, "warn")
    closed = len(gap_work().curated_saved(site, saved.id))
    said = _("The answer is saved. Visitors get it from now on.")
    closes = ngettext("It closes %(num)s gap.", "It closes %(num)s gaps.", closed)
    return f"{said} {closes}" if closed else said


def _answered_twice(site: Site, saved: CuratedAnswer) -> list[str]:
    """The questions of an answer that another one, which visitors get today too, has as well."""
    others = {
        plain(question)
        for one in stores().curated.all(site.id)
        if one.id != saved.id and one.state(utc_today()) is CuratedState.ON
        if one.language == saved.language or "" in (one.language, saved.language)
        for question in one.questions
    }
    return [question for question in saved.questions if plain(question) in others]


def _shown(known: CuratedAnswer | None, form: CuratedForm) -> str:
    shown = shown_answer(Answer(Outcome.CURATED, form.text.data or "")) if known else ""
    return render_template("admin/curated_one.html", known=known, form=form, shown=shown, today=utc_today())


files_page = Page(under=page, help="answers#how-do-i-move-my-own-answers-elsewhere")

Errors = Sequence[tuple[int, str]]


class ImportForm(Form):
    """One file."""

    answers = FileField(lazy("File"))


@files_page.get("/sites/<site_id>/answers/import")
def curated_import(site: Site) -> ResponseReturnValue:
    return _shown_import(ImportForm(formdata=None))


@files_page.post("/sites/<site_id>/answers/import", large=True)
def curated_take_in(site: Site) -> ResponseReturnValue:
    """All of the file, or nothing of it."""
    file = request.files.get("answers")
    if file is None or not file.filename:
        return _refused([(0, _("Choose a file."))])
    is_json = file.filename.lower().endswith((".jsonl", ".json", ".ndjson"))
    try:
        found = read_answers(site.id, file.read(), is_json=is_json)
    except CuratedFileError as error:
        return _refused(error.errors)
    new, replaced = stores().curated.save_all(found, operator_email())
    changed("imported own answers", site.id, new=new, replaced=replaced)
    said = _("%(new)s new, %(replaced)s replaced. Visitors get them from now on.", new=new, replaced=replaced)
    return done(said, "curated")


@files_page.get("/sites/<site_id>/answers.csv")
def curated_csv(site: Site) -> ResponseReturnValue:
    """For spreadsheets."""
    # The mark at the start tells Excel that it is UTF-8.
    return download(
        "\ufeff" + written_csv(stores().curated.all(site.id)), f"{site.id}-answers.csv", "text/csv"
    )


@files_page.get("/sites/<site_id>/answers.jsonl")
def curated_jsonl(site: Site) -> ResponseReturnValue:
    """For programs."""
    lines = written_jsonl(stores().curated.all(site.id))
    return download(lines, f"{site.id}-answers.jsonl", "application/x-ndjson")


def _refused(errors: Errors) -> ResponseReturnValue:
    return _shown_import(ImportForm(request.form), errors), UNPROCESSABLE


def _shown_import(form: ImportForm, errors: Errors = ()) -> str:
    said = [(line, sentence(message)) for line, message in errors]
    return render_template("admin/curated_import.html", form=form, errors=said, columns=COLUMNS)
