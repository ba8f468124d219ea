"""The pages of a site that visitors are answered from."""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from admin.pages import sites as sites_page
from admin.paging import listed
from server.domain.addresses import absolute

page = Page(tab="Content", under=sites_page.page)

ROWS = 100


@page.get("/sites/<site_id>/pages")
def content(site_id: str) -> ResponseReturnValue:
    """Searched by `search` in address and title."""
    site = services().sites.get(site_id)
    store = services().content(site_id)
    search = request.args.get("search", "").strip()
    pages = listed(lambda limit, offset: store.pages(limit=limit, offset=offset, search=search), ROWS)
    live_pages, live_chunks = store.counts()
    return render_template(
        "admin/content.html",
        site=site,
        pages=pages,
        search=search,
        live_pages=live_pages,
        live_chunks=live_chunks,
        addresses={found.url: absolute(found.url, services().settings.base_url) for found in pages.rows},
    )
