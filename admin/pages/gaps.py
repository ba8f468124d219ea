"""What visitors asked and the sites did not answer, those gaps first that most visitors met."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import unchanged
from admin.filters import DAY_OPTIONS, chosen_days, chosen_site, site_options
from admin.gap_words import STATUS
from admin.page import Page
from admin.paging import listed
from admin.redirects import safe_next
from server.domain.gap import OPEN, SOLVED, GapStatus
from server.services.gap_work import last_reasked

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
    sites, site_id = chosen_site()
    status = request.args.get("status", "")
    status = status if status in CHOICES else ""
    days, since = chosen_days()
    search = request.args.get("search", "").strip()[:200]
    store = services().gaps
    found = listed(
        lambda limit, offset: store.all(
            site_id=site_id,
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
        open=store.open_count(site_id),
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        status=status,
        status_options=[(value, label) for value, (label, _) in CHOICES.items()],
        days=days,
        day_options=DAY_OPTIONS,
        search=search,
        is_filtered=bool(site_id or status or since or search),
        reasked=last_reasked(services().database, site_id) if site_id else None,
    )


@page.post("/gaps/look")
def gaps_look() -> ResponseReturnValue:
    """Looks at once at what was asked meanwhile, for a few seconds at most."""
    looked = services().gap_work.look(5.0)
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
