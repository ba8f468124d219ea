"""How crawls and their addresses are called on the dashboard."""

from collections.abc import Callable
from datetime import UTC, datetime

from server.storage.crawls.runs import DECISION, PAGE, PAUSE, PAUSED, RUNNING, STOP, WAITING, WHOLE, CrawlRun

ACTIVE = (WAITING, RUNNING)

CRAWL_WORDS = {
    "waiting": "Waiting for the worker",
    "running": "Reading the site",
    "paused": "Paused",
    "done": "Read completely",
    "failed": "Failed",
    "stopped": "Stopped",
    "held": "Held back by the quality gate",
}
PAGE_WORDS = {"running": "At work", "done": "Done", "failed": "Failed"}
"""States of crawls of one page."""
WANTED_WORDS = {PAUSE: "Pausing", STOP: "Stopping"}

URL_WORDS = {
    "waiting": ("Waiting", "Found, and not visited yet."),
    "read": ("Being compared", "Visited; other pages decide what becomes of it."),
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


KIND_WORDS = {WHOLE: "The whole site", PAGE: "One page", DECISION: "A change of yours"}


def took(run: CrawlRun) -> float:
    """Seconds from its beginning to its end, or until now."""
    return ((run.finished_at or datetime.now(UTC)) - run.started_at).total_seconds()


def speed(run: CrawlRun) -> str:
    """Pages a second, over all of the crawl; nothing where there is nothing to tell."""
    pages, seconds = run.counts.get("fetched", 0) + run.counts.get("unchanged", 0), took(run)
    if run.kind != WHOLE or not pages or not run.finished_at or seconds <= 0:
        return ""
    return f"{pages / seconds:.1f}" if seconds < 10 * pages else f"{pages / seconds:.2g}"


def is_active(run: CrawlRun | None) -> bool:
    """Whether the crawl waits or runs."""
    return run is not None and run.state in ACTIVE


def crawl_word(run: CrawlRun) -> str:
    """Return the state of a crawl in words."""
    if run.kind != WHOLE and run.state in PAGE_WORDS:
        return PAGE_WORDS[run.state]
    if run.state == RUNNING and run.wanted in WANTED_WORDS:
        return WANTED_WORDS[run.wanted]
    if run.state == WAITING and run.wanted == STOP:
        return WANTED_WORDS[STOP]
    return CRAWL_WORDS.get(run.state, run.state)


def can(run: CrawlRun | None) -> frozenset[str]:
    """What an operator may do with a site's newest crawl now: pause, resume, stop."""
    if run is None or (run.state in ACTIVE and run.wanted == STOP):
        return frozenset()
    if run.state == RUNNING and run.wanted == PAUSE:
        return frozenset({"resume", "stop"})
    allowed = {
        WAITING: {"pause", "stop"},
        RUNNING: {"pause", "stop"},
        PAUSED: {"resume", "stop"},
        "failed": {"resume"} if run.counts else set(),
    }
    return frozenset(allowed.get(run.state, set()))


def pace(run: CrawlRun) -> str:
    """How fast a crawl goes and how long it may take, as far as that can be said; else nothing."""
    if run.state != RUNNING or run.rate <= 0:
        return ""
    many = run.rate >= 1
    speed = f"{run.rate:.1f} addresses a second" if many else f"{run.rate * 60:.0f} addresses a minute"
    return speed if run.remaining_s is None else f"{speed}, {about(run.remaining_s)} left"


def about(seconds: float) -> str:
    """A time that is only guessed: "about 3 minutes"."""
    if seconds < 20:
        return "a few seconds"
    if seconds < 55:
        return f"about {round(seconds, -1):.0f} seconds"
    for size, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        count = round(seconds / size)
        if seconds >= 0.9 * size and count:
            return (
                f"about {count} {word}s" if count > 1 else f"about {'an' if word == 'hour' else 'a'} {word}"
            )
    return "about a minute"


def colour(state: str) -> str:
    """Return the colour of an address's badge."""
    if state in BAD_URL_STATES:
        return "bad"
    return {"fetched": "well", "unchanged": "well", WAITING: "busy", "read": "busy"}.get(state, "plain")


def url_word(state: str) -> str:
    return URL_WORDS[state][0] if state in URL_WORDS else state.replace("_", " ").capitalize()


def counted(run: CrawlRun) -> list[tuple[str, int]]:
    """(state, addresses in it) in a fixed order, so that nothing jumps while a crawl runs."""
    order = {state: place for place, state in enumerate(URL_WORDS)}
    return sorted(run.counts.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))


def ended(run: CrawlRun) -> int:
    """How many addresses need nothing more."""
    return sum(count for state, count in run.counts.items() if state not in (WAITING, "read"))


FILTERS: dict[str, Callable[..., object]] = {
    **{shown.__name__: shown for shown in (crawl_word, url_word, counted, is_active, can, pace)},
    "kind_word": lambda run: KIND_WORDS.get(run.kind, run.kind),
    "took": took,
    "speed": speed,
    "url_colour": colour,
    "ended": ended,
}
