"""What visitors asked and the sites did not answer, those gaps first that most visitors met."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from wtforms import SelectField, TextAreaField
from wtforms.validators import Length

from admin.formats import outside_link
from admin.forms import UNPROCESSABLE, Form, choices
from admin.lists import chosen_days, chosen_site, listed, one_of, searched
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import changed, done, refused, to_next, unchanged
from admin.texts import _, lazy, ngettext
from admin.visible import sees
from server.api.access import database, gap_work, people_stores, stores
from server.domain.curated import CuratedState
from server.domain.gap import OPEN, SOLVED, Gap, GapEvent, GapKind, GapStatus, Why
from server.gaps.gap_work import last_recheck
from server.indexes.errors import IndexFailure
from server.storage.errors import UnknownRecord

STATUS: dict[GapStatus, tuple[str, str]] = {
    GapStatus.NEW: (lazy("New"), "warn"),
    GapStatus.PLANNED: (lazy("Planned"), "busy"),
    GapStatus.SOLVED_PAGE: (lazy("Solved by a page"), "well"),
    GapStatus.SOLVED_CURATED: (lazy("Solved by your own answer"), "well"),
    GapStatus.IGNORED: (lazy("Ignored"), ""),
}
"""Status -> (word, colour of its badge)."""
KINDS = {
    GapKind.MISSING: lazy("Missing on your site"),
    GapKind.OFF_TOPIC: lazy("Not about your site"),
    GapKind.PERSON: lazy("Wanted a person"),
}
LEADS = {
    GapKind.MISSING: lazy(
        "Questions that belong on your site, but your pages do not answer them. Write a page or an answer, "
        "and the gap closes by itself."
    ),
    GapKind.OFF_TOPIC: lazy("Questions about other things. Most of them you can ignore."),
    GapKind.PERSON: lazy("Visitors who asked for a person, or complained, in their own words."),
}
WHY = {
    Why.REFUSED: lazy("Not answered"),
    Why.PERSON: lazy("Wanted a person"),
    Why.THUMBS_DOWN: lazy("Thumb down"),
    Why.LOW_SUPPORT: lazy("Weak evidence"),
}
OUTCOMES = {
    "answered": lazy("The answer was no better than before."),
    "refused": lazy("Docent found no answer."),
    "clarify": lazy("Docent asked back."),
    "handoff": lazy("Docent offered to contact a person."),
}
STATES: dict[CuratedState, tuple[str, str]] = {
    CuratedState.ON: (lazy("On"), "well"),
    CuratedState.OFF: (lazy("Off"), "busy"),
    CuratedState.NOT_YET: (lazy("Not yet"), "busy"),
    CuratedState.ENDED: (lazy("Ended"), "warn"),
}
NOT_GIVEN = {
    "likeness": lazy("Not similar enough"),
    "numbers": lazy("Not given: the questions name different numbers"),
    "denial": lazy("Not given: one of the questions says “not”"),
    "kind": lazy("Not given: one asks when, where or who, the other something else"),
    "direction": lazy("Not given: the questions go in opposite directions, such as from and to"),
    "language": lazy("Not given: it is for another language"),
    "off": lazy("Not given: it is switched off"),
    "not yet": lazy("Not used yet: its first day is in the future"),
    "ended": lazy("No longer used: its last day has passed"),
}


def lacks(gap: Gap) -> str:
    """What is missing, as a sentence; empty until somebody looked."""
    missing = gap.missing
    if missing is None:
        return ""
    if missing.nowhere:
        return _("No page mentions: %(words)s.", words=", ".join(missing.nowhere))
    if not gap.nearest:
        return _("No page is about this.")
    if missing.elsewhere:
        return _("The nearest pages do not mention: %(words)s.", words=", ".join(missing.elsewhere))
    if not {Why.REFUSED, Why.PERSON} & set(gap.why):
        return _("Docent answered, but the answer did not help.")
    return _("Your pages mention all of it, but no sentence answers the question.")


def reasons(gap: Gap) -> str:
    """Why its questions count: "3 not answered, 1 thumb down"."""
    said: dict[Why, Callable[[int], str]] = {
        Why.REFUSED: lambda num: ngettext("%(num)s not answered", "%(num)s not answered", num),
        Why.PERSON: lambda num: ngettext("%(num)s wanted a person", "%(num)s wanted a person", num),
        Why.THUMBS_DOWN: lambda num: ngettext("%(num)s thumb down", "%(num)s thumbs down", num),
        Why.LOW_SUPPORT: lambda num: ngettext("%(num)s weak answer", "%(num)s weak answers", num),
    }
    return ", ".join(said[why](gap.why[why]) for why in Why if why in gap.why)


def reasked(gap: Gap) -> str:
    """How its questions ended when they were last asked again, as a sentence."""
    if not gap.reasked_outcome:
        return _("It was answered then.")
    return str(OUTCOMES.get(gap.reasked_outcome, _("It was not answered.")))


def happened(event: GapEvent) -> str:
    """An event as a sentence."""
    details = event.details
    if event.action == "closed":
        return _closed(details)
    if event.action == "judged":
        return " ".join(_judged(details))
    outcome = OUTCOMES.get(str(details.get("outcome")), _("It was not answered."))
    return {
        "found": _("Found."),
        "reopened": _("Asked again and not answered. The gap is open again."),
        "merged": _("Merged with another gap that asks the same."),
        "asked": _("Asked again. %(outcome)s", outcome=outcome),
    }.get(event.action, event.action)


def _closed(details: dict[str, object]) -> str:
    if details.get("curated"):
        return _("Asked again: your own answer is given to it. The gap closed by itself.")
    if crawl := details.get("crawl"):
        return _(
            "Asked again after crawl %(crawl)s: a page answers it. The gap closed by itself.", crawl=crawl
        )
    return _("Asked again: a page answers it. The gap closed by itself.")


def _judged(details: dict[str, object]) -> Iterable[str]:
    now, before = str(details.get("status", "")), str(details.get("before", ""))
    if now and now != before:
        yield _("Status changed to “%(status)s”.", status=STATUS[GapStatus(now)][0])
    if kind := details.get("kind"):
        yield _("Moved to the list “%(name)s”.", name=KINDS[GapKind(str(kind))])
    if "assigned_to" in details:
        person = details["assigned_to"]
        yield _("Assigned to %(person)s.", person=person) if person else _("Assigned to nobody.")
    if "note" in details:
        yield _("Note: %(note)s", note=details["note"]) if details["note"] else _("The note was removed.")


FILTERS: dict[str, Callable[..., object]] = {
    "gap_status": STATUS.__getitem__,
    "gap_why": WHY.__getitem__,
    "gap_lacks": lacks,
    "gap_reasons": reasons,
    "gap_reasked": reasked,
    "gap_happened": happened,
    "curated_state": STATES.__getitem__,
    "not_given": lambda why: NOT_GIVEN.get(why, why),
}


page = Page(menu=lazy("Gaps"), help="gaps")

ROWS = 50
CHOICES: dict[str, tuple[str, frozenset[GapStatus]]] = {
    "": (lazy("Open"), OPEN),
    "solved": (lazy("Solved"), SOLVED),
    **{status.value: (STATUS[status][0], frozenset({status})) for status in GapStatus},
    "all": (lazy("All"), frozenset()),
}


@page.get("/gaps")
def gaps() -> ResponseReturnValue:
    """One of the three lists, filtered by `site`, `status`, `days`, `assigned` and `search`; unknown values
    count as no filter."""
    sites, site_id, site_ids = chosen_site()
    status = one_of("status", CHOICES)
    kind = GapKind(one_of("list", list(GapKind), GapKind.MISSING))
    days, since = chosen_days()
    search = searched()
    people = _people(sites)
    assigned = one_of("assigned", people)
    store = stores().gaps
    wanted: dict[str, Any] = {"site_ids": site_ids, "statuses": CHOICES[status][1], "since": since}
    wanted |= {"search": search, "assigned_to": assigned}
    shown = {"site": site_id, "status": status, "days": days, "search": search, "assigned": assigned}
    return render_template(
        "admin/gaps.html",
        gaps=listed(
            lambda limit, offset: store.all(**wanted, kinds=[kind], limit=limit, offset=offset), ROWS
        ),
        counts=store.counts(**wanted),
        kinds=KINDS,
        kind=kind,
        lead=LEADS[kind],
        sites=sites,
        site_id=site_id,
        status=status,
        status_options=[(value, label) for value, (label, _statuses) in CHOICES.items()],
        days=days,
        search=search,
        assigned=assigned,
        people=people,
        people_options=[("", _("Anybody")), *((one, one) for one in people)],
        shown={key: value for key, value in shown.items() if value},
        is_rare=bool(site_id or status or since or assigned),
        reasked=last_recheck(database(), site_id) if site_id else None,
    )


def _people(sites: Iterable[str]) -> list[str]:
    """Addresses of everyone who sees one of these sites."""
    everyone = people_stores().operators.all()
    return [
        one.email for one in everyone if one.visible_sites is None or not one.visible_sites.isdisjoint(sites)
    ]


@page.post("/gaps/look", all_sites=True)
def gaps_look() -> ResponseReturnValue:
    """Take in new questions at once, for a few seconds at most."""
    looked = gap_work().look(5.0)
    unchanged()
    said = ngettext(
        "%(num)s new question was sorted in.", "%(num)s new questions were sorted in.", looked.taken_in
    )
    if looked.busy:
        said = _("Docent is already checking. Load this page again in a moment.")
    elif looked.more:
        said = f"{said} " + _("More are waiting: check again.")
    elif not looked.taken_in:
        said = _("There are no new questions.")
    flash(said, "done")
    return to_next(url_for("admin.gaps"))


@page.post("/gaps/selected")
def gaps_selected() -> ResponseReturnValue:
    """Ignore or assign several gaps at once."""
    found = filter(None, map(stores().gaps.find, request.form.getlist("gap")[:ROWS]))
    selected = [gap for gap in found if sees(gap.site_id)]
    person = request.form.get("assigned_to", "")
    judge, by = stores().gaps.judge, operator_email()
    if request.form.get("do") == "ignore":
        decide, action = partial(judge, status=GapStatus.IGNORED, by=by), "ignored a gap"
        said = ngettext("%(num)s gap is ignored.", "%(num)s gaps are ignored.", len(selected))
    elif not person or person in _people({gap.site_id for gap in selected}):
        decide, action = partial(judge, assigned_to=person, by=by), "assigned a gap"
        said = ngettext("%(num)s gap is assigned.", "%(num)s gaps are assigned.", len(selected))
    else:
        selected, said = [], _("This person cannot see these gaps. Choose somebody else.")
    if not selected:
        unchanged()
        flash(said if request.form.getlist("gap") else _("Tick the gaps first."), "problem")
        return to_next(url_for("admin.gaps"))
    for gap in selected:
        decide(gap.id)
        changed(action, gap.site_id, gap=gap.id)
    flash(said, "done")
    return to_next(url_for("admin.gaps"))


gap_page = Page(under=page)

CHOSEN = (GapStatus.NEW, GapStatus.PLANNED, GapStatus.IGNORED)
"""What an operator may say of a gap; solved is what Docent finds out."""
LONGEST_NOTE = 2000


class GapForm(Form):
    """What the operator decides about a gap."""

    status = SelectField(lazy("Status"))
    kind = SelectField(lazy("List"), choices=choices((kind.value, label) for kind, label in KINDS.items()))
    assigned_to = SelectField(lazy("Assigned to"))
    note = TextAreaField(
        lazy("Note"), [Length(max=LONGEST_NOTE, message=lazy("Keep the note to 2000 characters."))]
    )

    def offer(self, gap: Gap) -> GapForm:
        """With the choices that this gap has."""
        kept = (*CHOSEN, gap.status) if gap.status not in CHOSEN else CHOSEN
        self.status.choices = choices((status.value, STATUS[status][0]) for status in kept)
        people = dict.fromkeys((*_people([gap.site_id]), *filter(None, [gap.assigned_to])))
        self.assigned_to.choices = choices([("", _("Nobody")), *zip(people, people, strict=True)])
        return self


@gap_page.get("/gaps/<gap_id>")
def gap(gap_id: str) -> ResponseReturnValue:
    found = stores().gaps.get(gap_id)
    values = {"status": found.status.value, "kind": found.kind.value, "assigned_to": found.assigned_to}
    return _shown(found, GapForm(formdata=None, note=found.note, **values).offer(found))


@gap_page.post("/gaps/<gap_id>")
def gap_judge(gap_id: str) -> ResponseReturnValue:
    found = stores().gaps.get(gap_id)
    form = GapForm(request.form).offer(found)
    if not form.validate():
        for field in (form.status, form.kind, form.assigned_to):
            if field.errors:
                field.errors = [_("Choose one of these.")]
        return _shown(found, form), UNPROCESSABLE
    status, note = GapStatus(form.status.data), (form.note.data or "").strip()
    kind, person = GapKind(form.kind.data), form.assigned_to.data
    stores().gaps.judge(gap_id, status, note, operator_email(), person, kind)
    changed("decided on a gap", found.site_id, gap=gap_id, status=status.value, assigned_to=person)
    return done(_("Saved."), "gap")


@gap_page.post("/gaps/<gap_id>/again")
def gap_again(gap_id: str) -> ResponseReturnValue:
    """Ask the question of a gap again at once."""
    found = stores().gaps.get(gap_id)
    try:
        solved = gap_work().recheck_one(found, operator_email())
    except IndexFailure as error:
        return refused(_("It could not be asked: %(reason)s", reason=error), "gap")
    changed("asked a gap again", found.site_id, gap=gap_id, solved=solved is not None)
    if solved:
        return done(_("It is answered now. The gap is closed."), "gap")
    flash(_("It is still not answered."), "problem")
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
        solution=_solution(found),
    )


def _solution(found: Gap) -> str:
    """What answers the question now, as a sentence with a link; empty for an open gap."""
    solved = found.solved_by
    if solved is None:
        return ""
    if not solved.curated:
        link = outside_link(solved.link, solved.title or solved.url)
        return Markup(_("A page answers it now: %(page)s")) % {"page": link}
    try:
        given = stores().curated.get(found.site_id, solved.curated).questions[0]
    except UnknownRecord:
        return _("One of your own answers answered it. That answer was removed since.")
    address = url_for("admin.curated_one", site_id=found.site_id, id=solved.curated)
    link = Markup('<a href="{}" dir="auto">{}</a>').format(address, given)
    return Markup(_("Your own answer is given to it now: %(answer)s")) % {"answer": link}
