"""The operator's own answers of one site: list, write, change, remove, try."""

from __future__ import annotations

from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import BooleanField, StringField, TextAreaField

from admin.access import services
from admin.formats import sentence
from admin.forms import UNPROCESSABLE, Form, Needed, problem
from admin.page import Page
from admin.pages import sites as sites_page
from admin.paging import listed
from admin.sessions import current_operator
from server.answering.markup import answer_html
from server.domain.answer import Answer, Outcome
from server.domain.curated import CuratedAnswer
from server.domain.site import Site
from server.storage.questions import QuestionLog

page = Page(tab="Answers", under=sites_page.page)

ROWS = 100


class CuratedForm(Form):
    """One answer with the questions that it is for."""

    question = StringField("Question", [Needed("Write the question as visitors ask it.")])
    also = TextAreaField("Other ways to ask it")
    text = TextAreaField("Answer", [Needed("Write the answer.")])
    links = TextAreaField("Pages to read on")
    language = StringField("Language")
    enabled = BooleanField("Give this answer")


@page.get("/sites/<site_id>/answers")
def curated(site_id: str) -> ResponseReturnValue:
    """The list; with `?try=` which of them a question gets."""
    site = services().sites.get(site_id)
    asked = request.args.get("try", "").strip()[:500]
    return render_template(
        "admin/curated.html",
        site=site,
        answers=listed(lambda limit, offset: services().curated.all(site_id, limit, offset), ROWS),
        asked=asked,
        match=services().curated_match(site, asked) if asked else None,
        threshold=services().settings.curated_threshold,
    )


@page.get("/sites/<site_id>/answers/new")
def curated_new(site_id: str) -> ResponseReturnValue:
    """An empty form, or one with the question and the answer of the message in `?message=`."""
    site = services().sites.get(site_id)
    message = QuestionLog(services().database).find(request.args.get("message", ""))
    values = {"question": "", "text": "", "language": "", "enabled": True}
    if message and message.site_id == site_id:
        said = message.answer.text if message.answer.outcome is Outcome.CURATED else ""
        values |= {"question": message.question, "text": said, "language": message.language}
    return _shown(site, None, CuratedForm(formdata=None, **values))


@page.post("/sites/<site_id>/answers/new")
def curated_add(site_id: str) -> ResponseReturnValue:
    return _saved(services().sites.get(site_id), None)


@page.get("/sites/<site_id>/answers/<int:id>")
def curated_one(site_id: str, id: int) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    known = services().curated.get(site_id, id)
    values = {"question": known.questions[0], "also": "\n".join(known.questions[1:]), "text": known.text}
    values |= {"links": "\n".join(known.links), "language": known.language}
    return _shown(site, known, CuratedForm(formdata=None, enabled=known.enabled, **values))


@page.post("/sites/<site_id>/answers/<int:id>")
def curated_change(site_id: str, id: int) -> ResponseReturnValue:
    return _saved(services().sites.get(site_id), services().curated.get(site_id, id))


@page.post("/sites/<site_id>/answers/<int:id>/remove")
def curated_remove(site_id: str, id: int) -> ResponseReturnValue:
    services().sites.get(site_id)
    removed = services().curated.remove(site_id, id)
    flash("The answer is removed." if removed else "It was removed already.", "done")
    return redirect(url_for("admin.curated", site_id=site_id))


def _saved(site: Site, known: CuratedAnswer | None) -> ResponseReturnValue:
    form = CuratedForm(request.form)
    if form.validate():
        questions = [form.question.data, *(form.also.data or "").splitlines()]
        links = (form.links.data or "").splitlines()
        try:
            made = CuratedAnswer.checked(site.id, questions, form.text.data, links, form.language.data or "")
        except ValueError as error:
            problem(form, _field_of(str(error)), sentence(str(error)))
        else:
            operator = current_operator()
            made = replace(made, id=known.id if known else 0, enabled=bool(form.enabled.data))
            services().curated.save(made, operator.email if operator else "")
            flash("The answer is saved. Visitors get it from now on.", "done")
            return redirect(url_for("admin.curated", site_id=site.id))
    return _shown(site, known, form), UNPROCESSABLE


def _field_of(message: str) -> str:
    """Which field a message of CuratedAnswer.checked is about."""
    if "address" in message:
        return "links"
    return "language" if "language" in message else "text"


def _shown(site: Site, known: CuratedAnswer | None, form: CuratedForm) -> str:
    # answer_html is sanitised: nothing that is typed here can do anything.
    text = form.text.data or ""
    shown = Markup(answer_html(Answer(Outcome.CURATED, text))) if known else ""
    return render_template("admin/curated_one.html", site=site, known=known, form=form, shown=shown)
