"""How crawls and their addresses are called on the dashboard."""

from __future__ import annotations

from server.storage.crawls import CrawlRun

ACTIVE = ("waiting", "running")

CRAWL_WORDS = {
    "waiting": "Waiting for the worker",
    "running": "Reading the site",
    "done": "Read completely",
    "failed": "Failed",
    "stopped": "Stopped",
}

URL_WORDS = {
    "fetched": ("Read", "New or changed since the last crawl."),
    "unchanged": ("Unchanged", "The same as at the last crawl, so nothing was indexed anew."),
    "duplicate": ("Duplicate", "Says the same as another page, which is kept."),
    "redirected": ("Redirected", "Leads to another address, which is read instead."),
    "excluded": ("Excluded", "Outside the part of the site that is read."),
    "disallowed": ("Disallowed", "The site's robots.txt asks crawlers to stay away."),
    "noindex": ("Noindex", "The page asks not to be indexed."),
    "unsupported": ("Not a page", "Another type of file."),
    "empty": ("Empty", "No text was found; its links were followed."),
    "too_large": ("Too large", "Larger than CRAWL_MAX_BYTES."),
    "error": ("Error", "No usable answer; it is tried again at the next crawl."),
    "gone": ("Gone", "Not found. After two crawls it leaves the index."),
    "over_limit": ("Over the limit", "Found, but beyond CRAWL_MAX_PAGES or CRAWL_MAX_DEPTH."),
}
"""State of an address -> (word, what it means), in the order in which they are shown."""

BAD_URL_STATES = frozenset({"error", "gone", "too_large", "over_limit"})


def is_active(run: CrawlRun | None) -> bool:
    """Whether the crawl waits or runs."""
    return run is not None and run.state in ACTIVE


def crawl_word(state: str) -> str:
    return CRAWL_WORDS.get(state, state)


def url_word(state: str) -> str:
    return URL_WORDS[state][0] if state in URL_WORDS else state.replace("_", " ").capitalize()


def counted(run: CrawlRun) -> list[tuple[str, int]]:
    """(state, addresses in it) in a fixed order, so that nothing jumps while a crawl runs."""
    order = {state: place for place, state in enumerate(URL_WORDS)}
    return sorted(run.counts.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))


FILTERS = {"crawl_word": crawl_word, "url_word": url_word, "counted": counted, "is_active": is_active}
