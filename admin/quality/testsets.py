"""One test set: its questions, and the set as a file."""

from datetime import UTC, datetime
from typing import Any

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, SelectField, SelectMultipleField, StringField

from admin.forms import NAME_LENGTH, UNPROCESSABLE, Form, WholeNumber, choices, problem, required
from admin.lists import listed, searched
from admin.page import Page
from admin.quality import quality as quality_page
from admin.quality.check import too_many
from admin.replies import changed, done, download, progress, refused
from admin.texts import _, lazy, ngettext
from server.api.access import configuration, database, quality_stores
from server.domain.roles import Role
from server.domain.site import Site
from server.evaluation.candidates import KINDS, MODEL
from server.quality.questions import (
    LEAVE_OUT,
    UNANSWERABLE,
    UNKNOWN,
    BadQuestions,
    Wanted,
    questions_of_visitors,
    read_upload,
)
from server.quality.testset_store import StoredTestSet

page = Page(under=quality_page.page, help="quality#what-is-a-test-set")

ROWS = 50


class NameForm(Form):
    """What a set is called."""

    name = required(
        lazy("Name"), lazy("Write a name for the test set."),
        100, lazy("Choose a name of at most 100 characters."),
    )  # fmt: skip


@page.get("/sites/<site_id>/quality/sets/<int:id>")
def quality_testset(site: Site, id: int) -> ResponseReturnValue:
    """Its questions, searched by `?search=`."""
    testset = quality_stores().testsets.get(site.id, id)
    return _shown(site, testset, NameForm(formdata=None, name=testset.name))


@page.get("/sites/<site_id>/quality/sets/<int:id>/progress")
def quality_testset_progress(site: Site, id: int) -> ResponseReturnValue:
    """Say whether the set is complete; polled by progress.js."""
    testset = quality_stores().testsets.get(site.id, id)
    version = f"{testset.state} {testset.count}"
    shown = _with_cases(site, testset)
    return progress("admin/_quality_testset.html", active=testset.is_open, version=version, **shown)


@page.get("/sites/<site_id>/quality/sets/<int:id>.jsonl")
def quality_testset_file(site: Site, id: int) -> ResponseReturnValue:
    """The set as a question file; uploaded again it is the same set."""
    testset = quality_stores().testsets.get(site.id, id)
    lines = "".join(f"{case.line}\n" for case in quality_stores().testsets.cases(site.id, id))
    return download(lines, f"{site.id}-questions-{testset.id}.jsonl", "application/jsonl")


@page.post("/sites/<site_id>/quality/sets/<int:id>")
def quality_testset_rename(site: Site, id: int) -> ResponseReturnValue:
    testset = quality_stores().testsets.get(site.id, id)
    form = NameForm(request.form)
    if not form.validate():
        return _shown(site, testset, form), UNPROCESSABLE
    quality_stores().testsets.rename(site.id, id, form.name.data.strip())
    changed("renamed a test set", testset=id, name=form.name.data.strip())
    return done(_("The name is saved."), "quality_testset")


@page.post("/sites/<site_id>/quality/sets/<int:id>/remove")
def quality_testset_remove(site: Site, id: int) -> ResponseReturnValue:
    """Not while the gate measures by it."""
    testset = quality_stores().testsets.get(site.id, id)
    gate = quality_stores().gates.get(site.id)
    if gate is not None and gate.testset_id == id:
        return refused(
            _("The quality gate uses this test set. Choose another one for it first."), "quality_testset"
        )
    quality_stores().testsets.remove(site.id, id)
    changed("deleted a test set", testset=id, name=testset.name)
    return done(_("“%(name)s” is deleted. Reports of its runs stay.", name=testset.name), "quality_site")


def _shown(site: Site, testset: StoredTestSet, form: NameForm) -> str:
    return render_template("admin/quality_testset.html", form=form, **_with_cases(site, testset))


def _with_cases(site: Site, testset: StoredTestSet) -> dict[str, Any]:
    search = searched()
    found = quality_stores().testsets
    cases = listed(lambda limit, offset: found.cases(site.id, testset.id, limit, offset, search), ROWS)
    return {"testset": testset, "search": search, "cases": cases}


KIND_WORDS = {
    "headings": lazy("headings of pages"),
    "faq": lazy("questions that pages mark as such"),
    "links": lazy("words of links"),
    "model": lazy("written by the chat model (about two calls a question)"),
}
REFUSED_WORDS = {
    LEAVE_OUT: lazy("leave out"),
    UNANSWERABLE: lazy("the site cannot answer them"),
    UNKNOWN: lazy("the site should answer them"),
}
MOST = 1000


class HeadingsForm(Form):
    """What the `testset` command takes."""

    headings_name = StringField(lazy("Name"), [NAME_LENGTH])
    count = WholeNumber(lazy("Questions that the site answers"), least=1, most=MOST, default=60)
    kinds = SelectMultipleField(
        lazy("Where they come from"), choices=choices((kind, KIND_WORDS[kind]) for kind in KINDS)
    )
    unanswerable = WholeNumber(lazy("Questions that it cannot answer"), least=0, most=MOST, default=15)
    seed = WholeNumber(lazy("Selection"), least=0, most=1_000_000, default=0)


class UploadForm(Form):
    """A file of questions."""

    upload_name = StringField(lazy("Name"), [NAME_LENGTH])
    file = FileField(lazy("File"))


class ConversationsForm(Form):
    """Questions that visitors asked."""

    visitors_name = StringField(lazy("Name"), [NAME_LENGTH])
    helped = BooleanField(lazy("Questions with a thumb up, and the pages that were named"))
    refused = SelectField(
        lazy("Refused questions"), choices=choices(REFUSED_WORDS.items()), default=LEAVE_OUT
    )
    days = WholeNumber(lazy("Days to look back"), least=1, most=3650, default=90)
    most = WholeNumber(lazy("Questions at most"), least=1, most=MOST, default=200)


@page.get("/sites/<site_id>/quality/sets", role=Role.EDITOR)
def quality_testset_new(site: Site) -> ResponseReturnValue:
    return _shown_new()


@page.post("/sites/<site_id>/quality/sets/headings")
def quality_testset_headings(site: Site) -> ResponseReturnValue:
    """Ordered here, made by the worker."""
    form = HeadingsForm()
    kinds = list(form.kinds.data or ())
    if form.validate() and not kinds:
        problem(form, "kinds", _("Choose at least one."))
    elif MODEL in kinds and not configuration().settings.models.uses_chat_model:
        problem(form, "kinds", _("There is no chat model. Set one under Settings, Models, or leave it out."))
    elif not form.errors and not site.generation:
        problem(form, "count", _("Crawl the site first."))
    if form.errors or _is_full(site, form, "headings_name"):
        return _shown_new(headings=form), UNPROCESSABLE
    chosen = {"count": form.count.data, "kinds": kinds, "unanswerable": form.unanswerable.data}
    name = (form.headings_name.data or "").strip() or _("Pages, %(day)s", day=_day())
    made = quality_stores().testsets.order(site.id, name, "headings", {**chosen, "seed": form.seed.data})
    changed("ordered a test set from headings", testset=made.id, name=name)
    return redirect(url_for("admin.quality_testset", site_id=site.id, id=made.id))


@page.post("/sites/<site_id>/quality/sets/upload", large=True)
def quality_testset_upload(site: Site) -> ResponseReturnValue:
    """All of the file or nothing."""
    form = UploadForm()
    file = form.file.data
    form.validate()
    if not file or not getattr(file, "filename", ""):
        problem(form, "file", _("Choose a file with one JSON object a line."))
    if form.errors or _is_full(site, form, "upload_name"):
        return _shown_new(upload=form), UNPROCESSABLE
    try:
        made = read_upload(file.read(), site, configuration().settings)
    except BadQuestions as error:
        problem(form, "file", _("Nothing was stored. %(reason)s", reason=error.problems[0]))
        return _shown_new(upload=form, problems=error.problems), UNPROCESSABLE
    name = (form.upload_name.data or "").strip() or file.filename[:100]
    stored = quality_stores().testsets.create(site.id, name, "upload", made)
    changed("uploaded a test set", testset=stored.id, name=name, questions=len(made))
    return done(_has(name, len(made)), "quality_testset", id=stored.id)


@page.post("/sites/<site_id>/quality/sets/conversations")
def quality_testset_conversations(site: Site) -> ResponseReturnValue:
    form = ConversationsForm()
    if form.validate() and not form.helped.data and form.refused.data == LEAVE_OUT:
        problem(form, "helped", _("Choose questions with a thumb up, refused ones, or both."))
    if form.errors or _is_full(site, form, "visitors_name"):
        return _shown_new(visitors=form), UNPROCESSABLE
    wanted = Wanted(bool(form.helped.data), form.refused.data, form.days.data or 1, form.most.data or 1)
    made = questions_of_visitors(database(), site, wanted, configuration().settings)
    if not made:
        problem(form, "days", _("Visitors asked no such question in these days. Look back further."))
        return _shown_new(visitors=form), UNPROCESSABLE
    name = (form.visitors_name.data or "").strip() or _("Conversations, %(day)s", day=_day())
    stored = quality_stores().testsets.create(site.id, name, "conversations", made)
    changed("made a test set from conversations", testset=stored.id, name=name, questions=len(made))
    return done(_has(name, len(made)), "quality_testset", id=stored.id)


def _has(name: str, count: int) -> str:
    return ngettext("“%(name)s” has %(num)s question.", "“%(name)s” has %(num)s questions.", count, name=name)


def _is_full(site: Site, form: Form, field: str) -> bool:
    most = configuration().settings.quality.testsets_per_site
    if len(quality_stores().testsets.all(site.id, most)) < most:
        return False
    problem(form, field, too_many(most))
    return True


def _day() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _shown_new(
    headings: HeadingsForm | None = None,
    upload: UploadForm | None = None,
    visitors: ConversationsForm | None = None,
    problems: tuple[str, ...] = (),
) -> str:
    usual = [kind for kind in KINDS if kind != MODEL]
    return render_template(
        "admin/quality_testset_new.html",
        settings=configuration().settings,
        headings=headings or HeadingsForm(formdata=None, kinds=usual),
        upload=upload or UploadForm(formdata=None),
        visitors=visitors or ConversationsForm(formdata=None, helped=True),
        problems=problems,
    )
