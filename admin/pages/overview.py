"""The entry: per site what is read, what was asked, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from server.domain.answer import Outcome
from server.domain.site import Site
from server.storage.crawls import CrawlRun

page = Page(menu="Overview")

WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one site; each links to the list that it counts."""

    site: Site
    live_pages: int
    run: CrawlRun | None
    answered: int
    refused: int
    asked: int
    incidents: int


@page.get("/")
def overview() -> ResponseReturnValue:
    return render_template(
        "admin/overview.html", summaries=[_summary(site) for site in services().sites.all()]
    )


def _summary(site: Site) -> Summary:
    now = datetime.now(UTC)
    counts = services().conversations.counts(site.id, now - WEEK)
    return Summary(
        site=site,
        live_pages=services().content(site.id).counts()[0],
        run=services().crawls.latest(site.id),
        answered=counts[Outcome.ANSWERED],
        refused=counts[Outcome.REFUSED],
        asked=sum(counts.values()),
        incidents=services().incidents.since(site.id, now - DAY),
    )
