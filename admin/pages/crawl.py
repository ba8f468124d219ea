"""What became of every address in one crawl."""

from __future__ import annotations

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.crawl_state import URL_WORDS
from admin.page import Page
from admin.pages import sites as sites_page
from admin.paging import listed

page = Page(under=sites_page.page)

ROWS = 100


@page.get("/sites/<site_id>/crawls/<int:crawl_id>")
def crawl(site_id: str, crawl_id: int) -> ResponseReturnValue:
    """Filtered by `state`, searched by `search` in address and reason."""
    site = services().sites.get(site_id)
    run = next((run for run in services().crawls.history(site_id) if run.id == crawl_id), None)
    if run is None:
        abort(404)
    state, search = request.args.get("state", ""), request.args.get("search", "").strip()
    urls = listed(
        lambda limit, offset: services().crawls.urls(crawl_id, state or None, search, limit, offset), ROWS
    )
    meaning = URL_WORDS.get(state, ("", ""))[1]
    return render_template(
        "admin/crawl.html", site=site, run=run, urls=urls, state=state, search=search, meaning=meaning
    )
