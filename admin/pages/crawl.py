"""What became of every address in one crawl."""

from __future__ import annotations

from flask import Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.crawl_state import URL_WORDS, is_active
from admin.page import Page
from admin.pages import sites as sites_page
from admin.paging import listed
from server.services.crawl_csv import csv_lines
from server.storage.crawls import CrawlRun

page = Page(under=sites_page.page)

ROWS = 100


@page.get("/sites/<site_id>/crawls/<int:crawl_id>")
def crawl(site_id: str, crawl_id: int) -> ResponseReturnValue:
    """Filtered by `state`, searched by `search` in address and reason."""
    shown = _shown(site_id, crawl_id)
    state, search = _filters()
    urls = listed(
        lambda limit, offset: services().crawls.urls(crawl_id, state or None, search, limit, offset), ROWS
    )
    meaning = URL_WORDS.get(state, ("", ""))[1]
    return render_template("admin/crawl.html", urls=urls, meaning=meaning, **shown)


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
    _run(site_id, crawl_id)
    state, search = _filters()
    rows = services().crawls.every_url(crawl_id, state or None, search)
    name = f"{site_id}-crawl-{crawl_id}{'-' + state if state in URL_WORDS else ''}.csv"
    return Response(
        csv_lines(rows),
        mimetype="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def version_of(run: CrawlRun | None) -> str:
    """Changes when there is something new to see; a panel's own text also changes with the clock."""
    if run is None:
        return ""
    counts = ".".join(f"{state}{count}" for state, count in sorted(run.counts.items()))
    pace = f"{run.rate:.1f}/{run.remaining_s}"
    return f"{run.id}/{run.state}/{run.wanted}/{run.found}/{run.fetched}/{run.indexed}/{counts}/{pace}"


def _run(site_id: str, crawl_id: int) -> CrawlRun:
    run = services().crawls.get(crawl_id)
    if run.site_id != site_id:
        abort(404)
    return run


def _shown(site_id: str, crawl_id: int) -> dict[str, object]:
    site = services().sites.get(site_id)
    run = _run(site_id, crawl_id)
    latest = services().crawls.latest(site_id)
    state, search = _filters()
    is_latest = latest is not None and latest.id == run.id
    return {"site": site, "run": run, "is_latest": is_latest, "state": state, "search": search}


def _filters() -> tuple[str, str]:
    return request.args.get("state", ""), request.args.get("search", "").strip()
