"""A visit as text for the journal, and back: what the crawl needs to judge it again after a kill."""

from __future__ import annotations

import json

from crawler.frontier import Item
from crawler.journal import READ, WAITING, Entry
from crawler.judging import Ending
from crawler.page import Page
from crawler.report import UrlOutcome, UrlState
from crawler.visit import Visit


def waiting_entry(item: Item) -> Entry:
    """A URL that was found."""
    return Entry(item.url, item.depth, item.hops, item.found_on, WAITING)


def read_entry(visit: Visit) -> Entry:
    """A URL that was visited and not judged yet."""
    item = visit.item
    return Entry(
        item.url, item.depth, item.hops, item.found_on, READ, status=visit.outcome.status, visit=_text(visit)
    )


def ended_entry(ending: Ending) -> Entry:
    """A URL that ended; its visit stays until the consumer has stored the page."""
    item, outcome = ending.visit.item, ending.outcome
    return Entry(
        url=item.url,
        depth=item.depth,
        hops=item.hops,
        found_on=item.found_on,
        state=outcome.state.value,
        reason=outcome.reason,
        status=outcome.status,
        content_hash=outcome.page.content_hash if outcome.page else "",
        fingerprint=ending.fingerprint,
        visit=_text(ending.visit),
    )


def _text(visit: Visit) -> str:
    outcome = visit.outcome
    page = outcome.page.to_json() if outcome.page else None
    value = {
        "state": outcome.state.value,
        "reason": outcome.reason,
        "target": outcome.target,
        "canonical": visit.canonical,
        "page": page,
    }
    return json.dumps(value, ensure_ascii=False)


def visit_of(entry: Entry) -> Visit:
    """The visit that was written with an entry which is not settled."""
    value = json.loads(entry.visit)
    item = Item(entry.url, entry.depth, entry.hops, entry.found_on)
    page = Page.from_json(value["page"]) if value["page"] else None
    outcome = UrlOutcome(
        url=entry.url,
        state=UrlState(value["state"]),
        reason=value["reason"],
        status=entry.status,
        page=page,
        depth=entry.depth,
        found_on=entry.found_on,
        target=value["target"],
    )
    return Visit(item, outcome, canonical=value["canonical"])
