"""Two crawls of a site side by side: what is new, gone, changed, and what ended in another way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.crawls import crawls as crawls_page
from admin.crawls.crawls import run_of
from admin.lists import listed
from admin.page import Page
from admin.replies import download
from server.api.access import shared, stores
from server.domain.site import Site
from server.storage.crawls.addresses import UrlRow
from server.storage.crawls.difference import (
    ADDED,
    CHANGED,
    DIFFERENCES,
    MISSING,
    STATE,
    CrawlDifference,
    Difference,
)
from server.storage.crawls.runs import WHOLE, CrawlRun
from server.storage.csv_file import written

COLUMNS = ("address", "state", "reason", "status", "linked from", "clicks", "at")
DIFFERENCE_COLUMNS = ("address", "difference", "before", "reason before", "now", "reason now")


def csv_lines(rows: Iterable[UrlRow]) -> Iterator[str]:
    """Pieces of the file, the header first; few rows are in memory at a time."""
    return written(COLUMNS, map(_cells, rows))


def difference_lines(rows: Iterable[Difference]) -> Iterator[str]:
    """Pieces of the file with what two crawls found differently."""
    told = ((row.url, row.kind, row.before, row.before_reason, row.now, row.now_reason) for row in rows)
    return written(DIFFERENCE_COLUMNS, told)


def _cells(row: UrlRow) -> tuple[object, ...]:
    at = row.at.isoformat(timespec="seconds")
    return (row.url, row.state, row.reason, row.status or "", row.found_on, row.depth, at)


page = Page(under=crawls_page.page)

ROWS = 100
REMEMBERED_S = 24 * 3600
WORDS = {
    ADDED: ("New", "Addresses that only the later crawl found."),
    MISSING: ("Not found again", "Addresses that only the earlier crawl found."),
    CHANGED: ("Changed", "Pages that both crawls read, with another text."),
    STATE: ("Ended differently", "Addresses that both found and that ended in another way."),
}


@page.get("/sites/<site_id>/crawls/<int:crawl_id>/against/<int:earlier_id>")
def crawl_difference(site: Site, crawl_id: int, earlier_id: int) -> ResponseReturnValue:
    """Filtered by `kind`, searched by `search` in the address."""
    earlier, later = _both(site.id, crawl_id, earlier_id)
    kind, search = _filters()
    difference = stores().difference(earlier.id, later.id)
    return render_template(
        "admin/crawl_difference.html",
        site=site,
        earlier=earlier,
        later=later,
        kind=kind,
        search=search,
        words=WORDS,
        counts=_counts(difference, earlier, later),
        rows=listed(lambda limit, offset: difference.rows(kind, search, limit, offset), ROWS),
    )


@page.get("/sites/<site_id>/crawls/<int:crawl_id>/against/<int:earlier_id>.csv")
def crawl_difference_csv(site: Site, crawl_id: int, earlier_id: int) -> ResponseReturnValue:
    """The same as a file, sent while it is read."""
    earlier, later = _both(site.id, crawl_id, earlier_id)
    kind, search = _filters()
    rows = stores().difference(earlier.id, later.id).every(kind, search)
    name = f"{site.id}-crawl-{later.id}-against-{earlier.id}{'-' + kind if kind else ''}.csv"
    return download(difference_lines(rows), name, "text/csv")


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


def _filters() -> tuple[str, str]:
    kind = request.args.get("kind", "")
    return kind if kind in DIFFERENCES else "", request.args.get("search", "").strip()[:200]
