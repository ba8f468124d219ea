"""The pages of a site that visitors are answered from: filtered, sorted, with what they contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.lists import Listing, listed
from admin.page import Page
from admin.sites import sites as sites_page
from server.api.access import configuration, stores
from server.domain.addresses import absolute
from server.domain.site import Site
from server.storage.content.decisions import MOST_PINS, PageDecision
from server.storage.content.page_list import (
    BROKEN,
    CITED,
    EDITED,
    ELSEWHERE,
    NEWS,
    PINNED,
    SORTS,
    STATES,
    UNCITED,
    WEBSITE,
    ListedPage,
    PageFilter,
    PageList,
)  # fmt: skip
from server.storage.content.quotes import QuoteHealth

page = Page(tab="Content", under=sites_page.page)

ROWS = 50
EXCLUDED, LOST = "excluded", "lost"
STATE_OPTIONS = (
    ("", "Every page"),
    (CITED, "Cited in answers"),
    (UNCITED, "Never cited"),
    (BROKEN, "With broken quotes"),
    (LOST, "Quoted, and gone"),
    (EDITED, "Corrected"),
    (NEWS, "Corrected, and changed since"),
    (PINNED, "Pinned"),
    (EXCLUDED, "Excluded"),
)
SORT_OPTIONS = (("address", "By address"), ("times", "Most cited first"), ("last", "Last cited first"))
SOURCE_OPTIONS = (("", "From anywhere"), (WEBSITE, "From the website"), (ELSEWHERE, "From sources"))


class Filters(NamedTuple):
    """What is asked for; empty parts ask for nothing."""

    search: str
    language: str
    source: str
    state: str
    sort: str


@page.get("/sites/<site_id>/pages")
def content(site: Site) -> ResponseReturnValue:
    """Filtered by `search`, `language`, `source` and `state`, sorted by `sort`."""
    base = configuration().settings.serving.base_url
    asked, pages = _asked(), stores().page_list(site.id, base)
    live_pages, live_chunks = stores().content(site.id).counts()
    rows = _rows(site, asked, pages)
    addresses = {found.url: absolute(found.url, base) for found in rows.rows}
    languages = [(name, name) for name in pages.languages()]
    return render_template(
        "admin/content.html",
        site=site,
        pages=rows,
        asked=asked,
        kept_out=asked.state == EXCLUDED,
        lost=asked.state == LOST,
        live_pages=live_pages,
        live_chunks=live_chunks,
        addresses=addresses,
        figures=stores().cited_pages(site.id).figures(addresses.values()),
        decided=stores().decisions(site.id).counts(),
        quotes=stores().quotes(site.id).counts(),
        most_pins=MOST_PINS,
        languages=[("", "Any language"), *languages] if len(languages) > 1 else [],
        states=STATE_OPTIONS,
        sorts=SORT_OPTIONS,
        sources=SOURCE_OPTIONS,
    )


def _asked() -> Filters:
    given = {name: request.args.get(name, "").strip()[:200] for name in Filters._fields}
    sort = given["sort"] if given["sort"] in SORTS else SORTS[0]
    state = given["state"] if given["state"] in (*STATES, EXCLUDED, LOST) else ""
    return Filters(given["search"], given["language"], given["source"], state, sort)


ContentRow = ListedPage | PageDecision | QuoteHealth


def _rows(site: Site, asked: Filters, pages: PageList) -> Listing[ContentRow]:
    def fetch(limit: int, offset: int) -> Sequence[ContentRow]:
        if asked.state == EXCLUDED:
            return stores().decisions(site.id).excluded(limit, offset, asked.search)
        if asked.state == LOST:
            return stores().quotes(site.id).lost(limit, offset)
        return pages.find(PageFilter(*asked), limit, offset)

    return listed(fetch, ROWS)
