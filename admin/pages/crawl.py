"""What became of every address in one crawl."""

from __future__ import annotations

import json

from flask import Response, render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.crawl_state import BAD_URL_STATES, URL_WORDS, is_active
from admin.page import Page
from admin.pages import crawls as crawls_page
from admin.pages.crawl_versions import run_of, version_of
from admin.paging import listed
from server.domain.addresses import absolute
from server.services.crawl_csv import csv_lines
from server.storage.crawl_journal import CrawlJournal
from server.storage.crawl_urls import KEPT_OUT
from server.storage.crawls import CrawlRun

page = Page(under=crawls_page.page)

ROWS = 100
PROBLEMS = 5
"""The newest ones, shown while a crawl goes on."""


@page.get("/sites/<site_id>/crawls/<int:crawl_id>")
def crawl(site_id: str, crawl_id: int) -> ResponseReturnValue:
    """Filtered by `state` and `reason`, searched by `search` in address and reason."""
    shown = _shown(site_id, crawl_id)
    state, search, reason = _filters()
    store = services().crawls
    urls = listed(
        lambda limit, offset: store.urls(crawl_id, state or None, search, limit, offset, reason=reason), ROWS
    )
    reasons = store.reasons(crawl_id, state or None)
    if reason and reason not in dict(reasons):
        reasons.append((reason, 0))
    return render_template(
        "admin/crawl.html",
        urls=urls,
        kept_out=KEPT_OUT,
        meaning=URL_WORDS.get(state, ("", ""))[1],
        reasons=[("", "Any reason"), *((text, _counted(text, count)) for text, count in reasons)],
        **shown,
    )


@page.get("/sites/<site_id>/crawls/<int:crawl_id>/progress")
def crawl_progress(site_id: str, crawl_id: int) -> ResponseReturnValue:
    """How the crawl stands now, and whether to ask again; polled by progress.js."""
    shown = _shown(site_id, crawl_id)
    run = shown["run"]
    assert isinstance(run, CrawlRun)
    return {
        "active": is_active(run),
        "version": version_of(run),
        "html": render_template("admin/_crawl.html", **shown),
    }


@page.get("/sites/<site_id>/crawls/<int:crawl_id>.csv")
def crawl_csv(site_id: str, crawl_id: int) -> ResponseReturnValue:
    """The same addresses as a file, sent while they are read."""
    run_of(site_id, crawl_id)
    state, search, reason = _filters()
    rows = services().crawls.every_url(crawl_id, state or None, search, reason=reason)
    name = f"{site_id}-crawl-{crawl_id}{'-' + state if state in URL_WORDS else ''}.csv"
    return Response(
        csv_lines(rows),
        mimetype="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _shown(site_id: str, crawl_id: int) -> dict[str, object]:
    site = services().sites.get(site_id)
    run = run_of(site_id, crawl_id)
    latest = services().crawls.latest(site_id)
    state, search, reason = _filters()
    store = services().crawls
    return {
        "site": site,
        "run": run,
        "is_latest": latest is not None and latest.id == run.id,
        "state": state,
        "search": search,
        "reason": reason,
        "page_address": absolute(run.url, services().settings.base_url),
        "index": _index_report(run),
        "problems": store.newest(crawl_id, BAD_URL_STATES, PROBLEMS) if is_active(run) else [],
        "before": next((other.id for other in store.history(site_id, 100) if other.id < crawl_id), 0),
    }


def _index_report(run: CrawlRun) -> dict[str, int]:
    """What its build has done so far, by the names of IndexReport."""
    stored = CrawlJournal(services().database, run.id).notes().get("index_report", "{}")
    return {name: int(value) for name, value in json.loads(stored).items()}


def _counted(text: str, count: int) -> str:
    short = text if len(text) <= 70 else f"{text[:69]}…"
    return f"{short} ({count:,})" if count else short


def _filters() -> tuple[str, str, str]:
    given = (request.args.get(name, "").strip()[:300] for name in ("state", "search", "reason"))
    state, search, reason = given
    return state, search, reason
