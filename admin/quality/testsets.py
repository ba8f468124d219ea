"""One test set: its questions, and the set as a file."""

from datetime import UTC, datetime

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, FileField, SelectField, SelectMultipleField, StringField
from wtforms.validators import Length

from admin.forms import UNPROCESSABLE, Form, Needed, WholeNumber, choices, problem
from admin.lists import listed
from admin.page import Page
from admin.quality import quality as quality_page
from admin.replies import changed, done, download, progress, refused
from server.api.access import configuration, database, quality_stores
from server.domain.roles import Role
from server.domain.site import Site
from server.evaluation.candidates import KINDS, MODEL
from server.quality.questions import (
    LEAVE_OUT,
    REFUSED,
    BadQuestions,
    Wanted,
    file_of,
    questions_of_visitors,
    read_upload,
)
from server.quality.testset_store import StoredTestSet

page = Page(under=quality_page.page)

ROWS = 50


class NameForm(Form):
    """What a set is called."""

    name = StringField(
        "Name",
        [
            Needed("Write a name for the test set."),
            Length(max=100, message="Choose a name of at most 100 characters."),
        ],
    )


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
    shown = {"site": site, "testset": testset}
    return progress("admin/_quality_testset.html", active=testset.is_open, version=version, **shown)


@page.get("/sites/<site_id>/quality/sets/<int:id>.jsonl")
def quality_testset_file(site: Site, id: int) -> ResponseReturnValue:
    """The set as a question file; uploaded again it is the same set."""
    testset = quality_stores().testsets.get(site.id, id)
    lines = file_of(quality_stores().testsets.cases(site.id, id))
    return download(lines, f"{site.id}-questions-{testset.id}.jsonl", "application/jsonl")


@page.post("/sites/<site_id>/quality/sets/<int:id>")
def quality_testset_rename(site: Site, id: int) -> ResponseReturnValue:
    testset = quality_stores().testsets.get(site.id, id)
    form = NameForm(request.form)
    if not form.validate():
        return _shown(site, testset, form), UNPROCESSABLE
    quality_stores().testsets.rename(site.id, id, form.name.data.strip())
    changed("renamed a test set", testset=id, name=form.name.data.strip())
    return done("The name is saved.", "quality_testset")


@page.post("/sites/<site_id>/quality/sets/<int:id>/remove")
def quality_testset_remove(site: Site, id: int) -> ResponseReturnValue:
    """Not while the gate measures by it."""
    testset = quality_stores().testsets.get(site.id, id)
    gate = quality_stores().gates.get(site.id)
    if gate is not None and gate.testset_id == id:
        return refused(
            "The quality gate measures by this test set: choose another one for it first.", "quality_testset"
        )
    quality_stores().testsets.remove(site.id, id)
    changed("deleted a test set", testset=id, name=testset.name)
    return done(f"“{testset.name}” is deleted. Reports of its runs stay.", "quality_site")


def _shown(site: Site, testset: StoredTestSet, form: NameForm) -> str:
    search = request.args.get("search", "").strip()[:200]
    found = quality_stores().testsets
    return render_template(
        "admin/quality_testset.html",
        site=site,
        testset=testset,
        form=form,
        search=search,
        cases=listed(lambda limit, offset: found.cases(site.id, testset.id, limit, offset, search), ROWS),
    )


KIND_WORDS = {
    "headings": "headings of pages",
    "faq": "questions that pages mark as such",
    "links": "words of links",
    "model": "written by the chat model (costs about two calls a question)",
}
MOST = 1000
_NAME = Length(max=100, message="Choose a name of at most 100 characters.")


class HeadingsForm(Form):
    """What the `testset` command takes."""

    headings_name = StringField("Name", [_NAME])
    count = WholeNumber("Questions that the site answers", least=1, most=MOST, default=60)
    kinds = SelectMultipleField(
        "Where they come from", choices=choices((kind, KIND_WORDS[kind]) for kind in KINDS)
    )
    unanswerable = WholeNumber("Questions that it cannot answer", least=0, most=MOST, default=15)
    seed = WholeNumber("Choice", least=0, most=1_000_000, default=0)


class UploadForm(Form):
    """A file of questions."""

    upload_name = StringField("Name", [_NAME])
    file = FileField("File")


class ConversationsForm(Form):
    """Questions that visitors asked."""

    visitors_name = StringField("Name", [_NAME])
    helped = BooleanField("Questions whose answer got a thumb up, with the cited page as the expected one")
    refused = SelectField("Refused questions", choices=choices(REFUSED.items()), default=LEAVE_OUT)
    days = WholeNumber("Days to look back", least=1, most=3650, default=90)
    most = WholeNumber("Questions at most", least=1, most=MOST, default=200)


@page.get("/sites/<site_id>/quality/sets", role=Role.EDITOR)
def quality_testset_new(site: Site) -> ResponseReturnValue:
    return _shown_new(site)


@page.post("/sites/<site_id>/quality/sets/headings")
def quality_testset_headings(site: Site) -> ResponseReturnValue:
    """Ordered here, made by the worker."""
    form = HeadingsForm()
    kinds = list(form.kinds.data or ())
    if form.validate() and not kinds:
        problem(form, "kinds", "Choose at least one.")
    elif MODEL in kinds and not configuration().settings.models.uses_chat_model:
        problem(form, "kinds", "There is no chat model: set OPENAI_API_KEY, or leave it out.")
    elif not form.errors and not site.generation:
        problem(form, "count", "The site is not read yet: crawl it first.")
    if form.errors or _is_full(site, form, "headings_name"):
        return _shown_new(site, headings=form), UNPROCESSABLE
    chosen = {"count": form.count.data, "kinds": kinds, "unanswerable": form.unanswerable.data}
    name = (form.headings_name.data or "").strip() or f"Headings, {_day()}"
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
        problem(form, "file", "Choose a file with one JSON object a line.")
    if form.errors or _is_full(site, form, "upload_name"):
        return _shown_new(site, upload=form), UNPROCESSABLE
    try:
        made = read_upload(file.read(), site, configuration().settings)
    except BadQuestions as error:
        problem(form, "file", "Nothing was stored. " + error.problems[0])
        return _shown_new(site, upload=form, problems=error.problems), UNPROCESSABLE
    name = (form.upload_name.data or "").strip() or file.filename[:100]
    stored = quality_stores().testsets.create(site.id, name, "upload", made)
    changed("uploaded a test set", testset=stored.id, name=name, questions=len(made))
    return done(f"“{name}” has {len(made):,} questions.", "quality_testset", id=stored.id)


@page.post("/sites/<site_id>/quality/sets/conversations")
def quality_testset_conversations(site: Site) -> ResponseReturnValue:
    form = ConversationsForm()
    if form.validate() and not form.helped.data and form.refused.data == LEAVE_OUT:
        problem(form, "helped", "Choose questions with a thumb up, refused ones, or both.")
    if form.errors or _is_full(site, form, "visitors_name"):
        return _shown_new(site, visitors=form), UNPROCESSABLE
    wanted = Wanted(bool(form.helped.data), form.refused.data, form.days.data or 1, form.most.data or 1)
    made = questions_of_visitors(database(), site, wanted, configuration().settings)
    if not made:
        problem(form, "days", "Visitors asked no such question in these days: look back further.")
        return _shown_new(site, visitors=form), UNPROCESSABLE
    name = (form.visitors_name.data or "").strip() or f"Conversations, {_day()}"
    stored = quality_stores().testsets.create(site.id, name, "conversations", made)
    changed("made a test set from conversations", testset=stored.id, name=name, questions=len(made))
    return done(
        f"“{name}” has {len(made):,} questions. Look through them: visitors write what they like.",
        "quality_testset",
        id=stored.id,
    )


def _is_full(site: Site, form: Form, field: str) -> bool:
    most = configuration().settings.quality.testsets_per_site
    if len(quality_stores().testsets.all(site.id, most)) < most:
        return False
    problem(form, field, f"The site has {most} test sets (TESTSETS_PER_SITE): delete one first.")
    return True


def _day() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _shown_new(
    site: Site,
    headings: HeadingsForm | None = None,
    upload: UploadForm | None = None,
    visitors: ConversationsForm | None = None,
    problems: tuple[str, ...] = (),
) -> str:
    usual = [kind for kind in KINDS if kind != MODEL]
    return render_template(
        "admin/quality_testset_new.html",
        site=site,
        settings=configuration().settings,
        headings=headings or HeadingsForm(formdata=None, kinds=usual),
        upload=upload or UploadForm(formdata=None),
        visitors=visitors or ConversationsForm(formdata=None, helped=True),
        problems=problems,
    )
