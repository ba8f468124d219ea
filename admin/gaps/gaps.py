"""What visitors asked and the sites did not answer, those gaps first that most visitors met."""

from __future__ import annotations

from collections.abc import Callable

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectField, TextAreaField
from wtforms.validators import Length

from admin.forms import UNPROCESSABLE, Form
from admin.lists import chosen_days, chosen_site, listed
from admin.page import Page
from admin.people.sessions import operator_email, safe_next
from admin.replies import changed, done, refused, unchanged
from server.api.access import database, gap_work, stores
from server.domain.curated import CuratedState
from server.domain.gap import OPEN, SOLVED, Gap, GapEvent, GapStatus, Why
from server.domain.site import Site
from server.gaps.gap_work import last_recheck
from server.indexes.errors import IndexFailure
from server.storage.errors import UnknownCuratedAnswer

STATUS = {
    GapStatus.NEW: "New",
    GapStatus.PLANNED: "Planned",
    GapStatus.SOLVED_PAGE: "Solved by a page",
    GapStatus.SOLVED_CURATED: "Solved by an own answer",
    GapStatus.IGNORED: "Ignored",
}
COLOURS = {
    GapStatus.NEW: "warn",
    GapStatus.PLANNED: "busy",
    GapStatus.SOLVED_PAGE: "well",
    GapStatus.SOLVED_CURATED: "well",
    GapStatus.IGNORED: "",
}
WHY = {
    Why.REFUSED: ("refused", "refused"),
    Why.THUMBS_DOWN: ("thumb down", "thumbs down"),
    Why.LOW_SUPPORT: ("answered on weak evidence", "answered on weak evidence"),
}
OUTCOMES = {
    "answered": "It was answered, but not by anything new or well supported.",
    "refused": "It was refused again.",
    "clarify": "Docent asked back.",
    "handoff": "It was taken for a wish to talk to a person.",
    "limited": "It was not answered.",
}
STATES: dict[CuratedState, tuple[str, str]] = {
    CuratedState.ON: ("On", "well"),
    CuratedState.OFF: ("Off", "busy"),
    CuratedState.NOT_YET: ("Not yet", "busy"),
    CuratedState.ENDED: ("Ended", "warn"),
}
NOT_GIVEN = {
    "likeness": "Not alike enough",
    "numbers": "Not given: the questions name different numbers",
    "denial": "Not given: one of the questions says “not”",
    "kind": "Not given: one asks when, where or who, the other something else",
    "direction": "Not given: the questions go in opposite directions, such as from and to",
    "language": "Not given: it is for another language",
    "off": "Not given: it is switched off",
    "not yet": "Not given: its first day is still to come",
    "ended": "Not given: its last day is over",
}


def lacks(gap: Gap) -> str:
    """What is missing, as a sentence; empty until somebody looked."""
    missing = gap.missing
    if missing is None:
        return ""
    if missing.nowhere:
        return f"No page mentions: {', '.join(missing.nowhere)}."
    if not gap.nearest:
        return "No page comes near this question."
    if missing.elsewhere:
        return f"The nearest pages do not mention: {', '.join(missing.elsewhere)}."
    if Why.REFUSED not in gap.why:
        return "Pages were cited for it, but the answer did not serve."
    return "Pages mention all of it, but no sentence answers."


def reasons(gap: Gap) -> str:
    """Why its questions count: "3 refused, 1 thumb down"."""
    return ", ".join(f"{gap.why[why]} {WHY[why][gap.why[why] > 1]}" for why in Why if why in gap.why)


def happened(event: GapEvent) -> str:
    """An event as a sentence."""
    details = event.details
    if event.action == "closed":
        answered = "one of your own answers" if details.get("curated") else "a page of the site"
        crawl = f" after crawl {details['crawl']}" if details.get("crawl") else ""
        return f"Asked again{crawl}, it was answered by {answered}. The gap closed itself."
    if event.action == "judged":
        return _judged(details)
    visitor = "" if event.by else " by a visitor"
    return {
        "found": "Found.",
        "reopened": f"Asked again{visitor} and not answered. The gap is open again.",
        "merged": "Joined with another gap that asks the same.",
        "asked": f"Asked again. {OUTCOMES.get(str(details.get('outcome')), 'It was not answered.')}",
    }.get(event.action, event.action)


def _judged(details: dict[str, object]) -> str:
    now, before = str(details.get("status", "")), str(details.get("before", ""))
    moved = f"Status changed to “{STATUS[GapStatus(now)]}”." if now and now != before else ""
    if "note" not in details:
        return moved
    note = f"Note: {details['note']}" if details["note"] else "The note was removed."
    return f"{moved} {note}".strip()


FILTERS: dict[str, Callable[..., object]] = {
    "gap_status": STATUS.__getitem__,
    "gap_colour": COLOURS.__getitem__,
    "gap_lacks": lacks,
    "gap_reasons": reasons,
    "gap_happened": happened,
    "curated_state": STATES.__getitem__,
    "not_given": lambda why: NOT_GIVEN.get(why, why),
}


page = Page(menu="Gaps")

ROWS = 50
CHOICES: dict[str, tuple[str, frozenset[GapStatus]]] = {
    "": ("Open", OPEN),
    "solved": ("Solved", SOLVED),
    **{status.value: (STATUS[status], frozenset({status})) for status in GapStatus},
    "all": ("All", frozenset()),
}


@page.get("/gaps")
def gaps() -> ResponseReturnValue:
    """Filtered by `site`, `status`, `days` and `search`; what is not known counts as no filter."""
    sites, site_id, site_ids = chosen_site()
    status = request.args.get("status", "")
    status = status if status in CHOICES else ""
    days, since = chosen_days()
    search = request.args.get("search", "").strip()[:200]
    store = stores().gaps
    found = listed(
        lambda limit, offset: store.all(
            site_ids=site_ids,
            statuses=CHOICES[status][1],
            since=since,
            search=search,
            limit=limit,
            offset=offset,
        ),
        ROWS,
    )
    return render_template(
        "admin/gaps.html",
        gaps=found,
        open=store.open_count(site_ids),
        sites=sites,
        site_id=site_id,
        status=status,
        status_options=[(value, label) for value, (label, _) in CHOICES.items()],
        days=days,
        search=search,
        is_filtered=bool(site_id or status or since or search),
        reasked=last_recheck(database(), site_id) if site_id else None,
    )


@page.post("/gaps/look", all_sites=True)
def gaps_look() -> ResponseReturnValue:
    """Take in new questions at once, for a few seconds at most."""
    looked = gap_work().look(5.0)
    unchanged()
    if looked.busy:
        flash("The job worker is looking just now. Load this page again in a moment.", "done")
    elif looked.more:
        flash(f"{looked.taken_in} questions were taken in. More wait: look again.", "done")
    elif looked.taken_in:
        flash(f"{looked.taken_in} questions were taken in.", "done")
    else:
        flash("Nothing new: every question that was asked is taken in.", "done")
    return redirect(safe_next(request.form.get("next") or url_for("admin.gaps")))


gap_page = Page(under=page)

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


@gap_page.get("/gaps/<gap_id>")
def gap(gap_id: str) -> ResponseReturnValue:
    found = stores().gaps.get(gap_id)
    form = GapForm(formdata=None, status=found.status.value, note=found.note).offer(found)
    return _shown(found, form)


@gap_page.post("/gaps/<gap_id>")
def gap_judge(gap_id: str) -> ResponseReturnValue:
    found = stores().gaps.get(gap_id)
    form = GapForm(request.form).offer(found)
    if not form.validate():
        if form.status.errors:
            form.status.errors = ["Choose one of these."]
        return _shown(found, form), UNPROCESSABLE
    status = GapStatus(form.status.data)
    stores().gaps.judge(gap_id, status, (form.note.data or "").strip(), operator_email())
    changed(f"marked a gap as {STATUS[status].lower()}", found.site_id, gap=gap_id)
    return done("Saved.", "gap")


@gap_page.post("/gaps/<gap_id>/again")
def gap_again(gap_id: str) -> ResponseReturnValue:
    """Ask the question of a gap again at once."""
    found = stores().gaps.get(gap_id)
    try:
        solved = gap_work().recheck_one(found, operator_email())
    except IndexFailure as error:
        return refused(f"It could not be asked: {error}", "gap")
    changed("asked a gap again", found.site_id, gap=gap_id, solved=solved is not None)
    if solved:
        return done("It is answered now. The gap is closed.", "gap")
    flash("It is still not answered.", "problem")
    return redirect(url_for("admin.gap", gap_id=gap_id))


def _shown(found: Gap, form: GapForm) -> str:
    site = stores().sites.find(found.site_id)
    return render_template(
        "admin/gap.html",
        gap=found,
        site=site,
        form=form,
        questions=listed(lambda limit, offset: stores().gaps.questions(found.id, limit, offset), ROWS),
        history=stores().gaps.history(found.id),
        given=_given(site, found),
    )


def _given(site: Site | None, found: Gap) -> str:
    """The question of the own answer that solved it; empty where it is gone."""
    if site is None or found.solved_by is None or not found.solved_by.curated:
        return ""
    try:
        return stores().curated.get(site.id, found.solved_by.curated).questions[0]
    except UnknownCuratedAnswer:
        return ""
