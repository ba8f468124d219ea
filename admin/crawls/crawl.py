"""What became of every address in one crawl, and in two of them side by side."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from flask import abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.crawls import crawls as crawls_page
from admin.crawls.crawls import BAD_URL_STATES, URL_WORDS, is_active, run_of, version_of
from admin.formats import number
from admin.lists import listed, one_of, searched
from admin.page import Page
from admin.replies import done, download, progress, refused, to_next, unchanged
from admin.sites import sites as sites_page
from admin.stored import translated
from admin.texts import _, lazy
from server.api.access import configuration, crawling, database, shared, stores
from server.domain.addresses import absolute
from server.domain.site import OFF, PERIODS, Site, next_time
from server.storage.crawls.addresses import (
    ADDED,
    CHANGED,
    DIFFERENCES,
    KEPT_OUT,
    MISSING,
    STATE,
    CrawlDifference,
    UrlRow,
)
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import PAUSED, RUNNING, STOPPED, WAITING, WHOLE, CrawlRun
from server.storage.csv_file import written
from server.storage.errors import WrongState

page = Page(under=crawls_page.page, help="crawling#why-is-a-page-missing")

ROWS = 25
"""Addresses on a page: on a phone each is a card."""
PROBLEMS = 5
"""The newest ones, shown while a crawl goes on."""


@page.get("/sites/<site_id>/crawls/<int:crawl_id>")
def crawl(site: Site, crawl_id: int) -> ResponseReturnValue:
    """Filtered by `state` and `reason`, searched by `search` in address and reason."""
    shown = _shown(site, crawl_id)
    state, search, reason = _filters().values()
    addresses = stores().crawls.addresses
    urls = listed(
        lambda limit, offset: addresses.urls(crawl_id, state or None, search, limit, offset, reason=reason),
        ROWS,
    )
    reasons = addresses.reasons(crawl_id, state or None)
    if reason and reason not in dict(reasons):
        reasons.append((reason, 0))
    return render_template(
        "admin/crawl.html",
        urls=urls,
        kept_out=KEPT_OUT,
        meaning=URL_WORDS.get(state, ("", ""))[1],
        reasons=[("", _("Any reason")), *((text, _counted(text, count)) for text, count in reasons)],
        **shown,
    )


@page.get("/sites/<site_id>/crawls/<int:crawl_id>/progress")
def crawl_progress(site: Site, crawl_id: int) -> ResponseReturnValue:
    """Return the progress of a crawl; polled by progress.js."""
    shown = _shown(site, crawl_id)
    run = shown["run"]
    return progress("admin/_crawl.html", active=is_active(run), version=version_of(run), **shown)


@page.get("/sites/<site_id>/crawls/<int:crawl_id>.csv")
def crawl_csv(site: Site, crawl_id: int) -> ResponseReturnValue:
    """The same addresses as a file, sent while they are read."""
    run_of(site.id, crawl_id)
    state, search, reason = _filters().values()
    rows = stores().crawls.addresses.every_url(crawl_id, state or None, search, reason=reason)
    name = f"{site.id}-crawl-{crawl_id}{'-' + state if state in URL_WORDS else ''}.csv"
    return download(csv_lines(rows), name, "text/csv")


def _shown(site: Site, crawl_id: int) -> dict[str, Any]:
    run = run_of(site.id, crawl_id)
    latest = stores().crawls.latest(site.id)
    store = stores().crawls
    return {
        "run": run,
        "is_latest": latest is not None and latest.id == run.id,
        **_filters(),
        "page_address": absolute(run.url, configuration().settings.serving.base_url),
        "index": _index_report(run),
        "problems": store.addresses.newest(crawl_id, BAD_URL_STATES, PROBLEMS) if is_active(run) else [],
        "before": next((other.id for other in store.history(site.id, 100) if other.id < crawl_id), 0),
    }


def _index_report(run: CrawlRun) -> dict[str, int]:
    """What its build has done so far, by the names of IndexReport."""
    stored = CrawlJournal(database(), run.id).notes().get("index_report", "{}")
    return {name: int(value) for name, value in json.loads(stored).items()}


def _counted(text: str, count: int) -> str:
    text = translated(text)
    short = text if len(text) <= 70 else f"{text[:69]}…"
    return f"{short} ({number(count)})" if count else short


def _filters() -> dict[str, str]:
    return {name: request.args.get(name, "").strip()[:300] for name in ("state", "search", "reason")}


control_page = Page(under=sites_page.page)


def _control(action: str) -> None:
    def view(site: Site) -> ResponseReturnValue:
        try:
            run: CrawlRun = getattr(crawling().control, action)(site.id)
        except WrongState:
            # It ended between the look and the click.
            unchanged()
            flash(_("The crawl of %(name)s has ended in the meantime.", name=site.name), "done")
        else:
            flash(_answer(run, action), "done")
        return to_next(url_for("admin.site", site_id=site.id))

    control_page.post(f"/sites/<site_id>/crawl/{action}", f"crawl_{action}")(view)


for _action in ("pause", "resume", "stop"):
    _control(_action)


@control_page.post("/sites/<site_id>/schedule")
def site_schedule(site: Site) -> ResponseReturnValue:
    every = request.form.get("every", "")
    if every in PERIODS:
        stores().schedules.set(site.id, every, next_time(every, datetime.now(UTC)))
        return done(_("The schedule of %(name)s is saved.", name=site.name), "site")
    if every == OFF:
        stores().schedules.clear(site.id)
        return done(_("%(name)s is crawled only when you ask for it.", name=site.name), "site")
    return refused(_("Choose how often the site is crawled."), "site")


def _answer(run: CrawlRun, action: str) -> str:
    if action == "resume":
        return _("The crawl goes on as soon as the queue is free.")
    if run.state == PAUSED:
        return _("The crawl is paused. Nothing is lost.")
    if run.state == STOPPED:
        return _("The crawl is stopped.")
    if run.state in (RUNNING, WAITING) and action == "stop":
        return _("The crawl is stopping. The pages that it has read go live.")
    return _("The crawl is pausing. Nothing is lost.")


COLUMNS = ("address", "state", "reason", "status", "linked from", "clicks", "at")
DIFFERENCE_COLUMNS = ("address", "difference", "before", "reason before", "now", "reason now")


def csv_lines(rows: Iterable[UrlRow]) -> Iterator[str]:
    """Pieces of the file, the header first; few rows are in memory at a time."""
    return written(COLUMNS, map(_cells, rows))


def _cells(row: UrlRow) -> tuple[object, ...]:
    at = row.at.isoformat(timespec="seconds")
    return (row.url, row.state, row.reason, row.status or "", row.found_on, row.depth, at)


difference_page = Page(under=crawls_page.page)

DIFFERENCE_ROWS = 100
REMEMBERED_S = 24 * 3600
WORDS = {
    ADDED: (lazy("New"), lazy("Addresses that only the later crawl found.")),
    MISSING: (lazy("Not found again"), lazy("Addresses that only the earlier crawl found.")),
    CHANGED: (lazy("Changed"), lazy("Pages whose text differs between the two crawls.")),
    STATE: (lazy("Different result"), lazy("Addresses that both crawls found, with different results.")),
}


@difference_page.get("/sites/<site_id>/crawls/<int:crawl_id>/against/<int:earlier_id>")
def crawl_difference(site: Site, crawl_id: int, earlier_id: int) -> ResponseReturnValue:
    """Filtered by `kind`, searched by `search` in the address."""
    earlier, later = _both(site.id, crawl_id, earlier_id)
    kind, search = _difference_filters()
    difference = stores().difference(earlier.id, later.id)
    return render_template(
        "admin/crawl_difference.html",
        earlier=earlier,
        later=later,
        kind=kind,
        search=search,
        words=WORDS,
        counts=_counts(difference, earlier, later),
        rows=listed(lambda limit, offset: difference.rows(kind, search, limit, offset), DIFFERENCE_ROWS),
    )


@difference_page.get("/sites/<site_id>/crawls/<int:crawl_id>/against/<int:earlier_id>.csv")
def crawl_difference_csv(site: Site, crawl_id: int, earlier_id: int) -> ResponseReturnValue:
    """The same as a file, sent while it is read."""
    earlier, later = _both(site.id, crawl_id, earlier_id)
    kind, search = _difference_filters()
    rows = stores().difference(earlier.id, later.id).every(kind, search)
    told = ((row.url, row.kind, row.before, row.before_reason, row.now, row.now_reason) for row in rows)
    name = f"{site.id}-crawl-{later.id}-against-{earlier.id}{'-' + kind if kind else ''}.csv"
    return download(written(DIFFERENCE_COLUMNS, told), name, "text/csv")


def _both(site_id: str, crawl_id: int, earlier_id: int) -> tuple[CrawlRun, CrawlRun]:
    earlier, later = run_of(site_id, earlier_id), run_of(site_id, crawl_id)
    if earlier.id >= later.id or {earlier.kind, later.kind} != {WHOLE}:
        abort(404)
    return earlier, later


def _counts(difference: CrawlDifference, earlier: CrawlRun, later: CrawlRun) -> dict[str, int]:
    """Count the differences. Those of finished crawls never change and are counted once."""
    key = f"crawl-difference:{earlier.id}:{later.id}"
    final = not earlier.is_open and not later.is_open
    stored = shared().cache.get(key) if final else None
    if stored is not None:
        return {kind: int(number) for kind, number in json.loads(stored).items()}
    counts = difference.counts()
    if final:
        shared().cache.set(key, json.dumps(counts), REMEMBERED_S)
    return counts


def _difference_filters() -> tuple[str, str]:
    return one_of("kind", DIFFERENCES), searched()
