"""One gap: its questions, what comes near them, what is missing, and what became of it."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectField, TextAreaField
from wtforms.validators import Length

from admin.access import services
from admin.audit import changed
from admin.forms import UNPROCESSABLE, Form
from admin.gap_words import STATUS, status_word
from admin.page import Page
from admin.pages import gaps as gaps_page
from admin.paging import listed
from admin.sessions import current_operator
from server.domain.gap import Gap, GapStatus
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.storage.errors import UnknownCuratedAnswer

page = Page(under=gaps_page.page)

ROWS = 50
CHOSEN = (GapStatus.NEW, GapStatus.PLANNED, GapStatus.IGNORED)
"""What an operator may say of a gap; solved is what Docent finds out."""
LONGEST_NOTE = 2000


class GapForm(Form):
    """What is to become of a gap."""

    status = SelectField("Status")
    note = TextAreaField(
        "Note", [Length(max=LONGEST_NOTE, message=f"Keep the note to {LONGEST_NOTE} characters.")]
    )

    def offer(self, gap: Gap) -> GapForm:
        """With the choices that this gap has."""
        kept = (*CHOSEN, gap.status) if gap.status not in CHOSEN else CHOSEN
        self.status.choices = [(status.value, STATUS[status]) for status in kept]
        return self


@page.get("/gaps/<gap_id>")
def gap(gap_id: str) -> ResponseReturnValue:
    found = services().gaps.get(gap_id)
    form = GapForm(formdata=None, status=found.status.value, note=found.note).offer(found)
    return _shown(found, form)


@page.post("/gaps/<gap_id>")
def gap_judge(gap_id: str) -> ResponseReturnValue:
    found = services().gaps.get(gap_id)
    form = GapForm(request.form).offer(found)
    if not form.validate():
        if form.status.errors:
            form.status.errors = ["Choose one of these."]
        return _shown(found, form), UNPROCESSABLE
    status = GapStatus(form.status.data)
    services().gaps.judge(gap_id, status, (form.note.data or "").strip(), _who())
    changed(f"marked a gap as {status_word(status).lower()}", found.site_id, gap=gap_id)
    flash("Saved.", "done")
    return redirect(url_for("admin.gap", gap_id=gap_id))


@page.post("/gaps/<gap_id>/again")
def gap_again(gap_id: str) -> ResponseReturnValue:
    """Asks it anew at once."""
    found = services().gaps.get(gap_id)
    try:
        solved = services().gap_work.reask_one(found, _who())
    except IndexFailure as error:
        flash(f"It could not be asked: {error}", "problem")
        return redirect(url_for("admin.gap", gap_id=gap_id))
    changed("asked a gap again", found.site_id, gap=gap_id, solved=solved is not None)
    if solved:
        flash("It is answered now. The gap is closed.", "done")
    else:
        flash("It is still not answered.", "problem")
    return redirect(url_for("admin.gap", gap_id=gap_id))


def _who() -> str:
    operator = current_operator()
    return operator.email if operator else ""


def _shown(found: Gap, form: GapForm) -> str:
    site = services().sites.find(found.site_id)
    return render_template(
        "admin/gap.html",
        gap=found,
        site=site,
        form=form,
        questions=listed(lambda limit, offset: services().gaps.questions(found.id, limit, offset), ROWS),
        history=services().gaps.history(found.id),
        given=_given(site, found),
    )


def _given(site: Site | None, found: Gap) -> str:
    """The question of the own answer that solved it; empty where it is gone."""
    if site is None or found.solved_by is None or not found.solved_by.curated:
        return ""
    try:
        return services().curated.get(site.id, found.solved_by.curated).questions[0]
    except UnknownCuratedAnswer:
        return ""
