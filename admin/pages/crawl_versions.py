"""What the pages about crawls have in common: a crawl of the site in the address, and whether it changed."""

from __future__ import annotations

from flask import abort

from admin.access import services
from server.storage.crawls import CrawlRun


def run_of(site_id: str, crawl_id: int) -> CrawlRun:
    """A crawl of this site; any other is not found."""
    run = services().crawls.get(crawl_id)
    if run.site_id != site_id:
        abort(404)
    return run


def version_of(run: CrawlRun | None) -> str:
    """Changes when there is something new to see; a panel's own text also changes with the clock."""
    if run is None:
        return ""
    counts = ".".join(f"{state}{count}" for state, count in sorted(run.counts.items()))
    pace = f"{run.rate:.1f}/{run.remaining_s}"
    return f"{run.id}/{run.state}/{run.wanted}/{run.found}/{run.fetched}/{run.indexed}/{counts}/{pace}"
