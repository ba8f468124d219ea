"""Every crawl of a site that is on record, and two of them side by side."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

from flask import abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import about, decimal
from admin.lists import listed, one_of
from admin.page import Page
from admin.replies import changed, done, progress, refused
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from crawler.errors import BadStart
from crawler.options import start_address
from server.api.access import configuration, crawling, stores
from server.domain.site import Site
from server.storage.crawls.runs import DECISION, PAGE, PAUSE, PAUSED, RUNNING, STOP, WAITING, WHOLE, CrawlRun

ACTIVE = (WAITING, RUNNING)

CRAWL_WORDS = {
    "waiting": lazy("Waiting to start"),
    "running": lazy("Crawling"),
    "paused": lazy("Paused"),
    "done": lazy("Complete"),
    "failed": lazy("Failed"),
    "stopped": lazy("Stopped"),
    "held": lazy("Held back"),
}
PAGE_WORDS = {"running": lazy("Working"), "done": lazy("Done"), "failed": lazy("Failed")}
"""States of crawls of one page."""
WANTED_WORDS = {PAUSE: lazy("Pausing"), STOP: lazy("Stopping")}

URL_WORDS = {
    "waiting": (lazy("Waiting"), lazy("Found, and not opened yet.")),
    "read": (lazy("Being compared"), lazy("Opened. Docent compares it with other pages before it decides.")),
    "fetched": (lazy("Crawled"), lazy("New or changed since the last crawl.")),
    "unchanged": (lazy("Unchanged"), lazy("The same as at the last crawl, so it was not indexed again.")),
    "duplicate": (lazy("Duplicate"), lazy("Says the same as another page, which is kept.")),
    "redirected": (lazy("Redirected"), lazy("Leads to another address, which is crawled instead.")),
    "excluded": (lazy("Excluded"), lazy("Outside the part of the site that is crawled.")),
    "disallowed": (
        lazy("Disallowed"),
        lazy(
            "Its robots.txt or its AI preferences ask Docent to leave it out. AI preferences do not apply to "
            "a site that is your own: tick that under Scope."
        ),
    ),
    "noindex": (lazy("Noindex"), lazy("The page asks not to be indexed.")),
    "unsupported": (lazy("Not a page"), lazy("Another type of file.")),
    "empty": (lazy("Empty"), lazy("No text was found. Its links were followed.")),
    "too_large": (lazy("Too large"), lazy("Larger than the limit for one page (CRAWL_MAX_BYTES).")),
    "error": (lazy("Error"), lazy("No usable answer. The next crawl tries it again.")),
    "gone": (lazy("Gone"), lazy("Not found. After two crawls it leaves the index.")),
    "over_limit": (
        lazy("Over the limit"),
        lazy("Found, but beyond the limit of pages or clicks of the site."),
    ),
}
"""State of an address -> (word, what it means), in the order in which they are shown."""

BAD_URL_STATES = frozenset({"error", "gone", "too_large", "over_limit"})


KIND_WORDS = {WHOLE: lazy("The whole site"), PAGE: lazy("One page"), DECISION: lazy("A change of yours")}


def took(run: CrawlRun) -> float:
    """Seconds from its beginning to its end, or until now."""
    return ((run.finished_at or datetime.now(UTC)) - run.started_at).total_seconds()


def speed(run: CrawlRun) -> str:
    """Pages a second, over all of the crawl; nothing where there is nothing to tell."""
    pages, seconds = run.counts.get("fetched", 0) + run.counts.get("unchanged", 0), took(run)
    if run.kind != WHOLE or not pages or not run.finished_at or seconds <= 0:
        return ""
    return decimal(pages / seconds, 1 if seconds < 10 * pages else 2)


def is_active(run: CrawlRun | None) -> bool:
    """Whether the crawl waits or runs."""
    return run is not None and run.state in ACTIVE


def crawl_word(run: CrawlRun) -> str:
    """Return the state of a crawl in words."""
    if run.kind != WHOLE and run.state in PAGE_WORDS:
        return str(PAGE_WORDS[run.state])
    if run.state == RUNNING and run.wanted in WANTED_WORDS:
        return str(WANTED_WORDS[run.wanted])
    if run.state == WAITING and run.wanted == STOP:
        return str(WANTED_WORDS[STOP])
    return str(CRAWL_WORDS.get(run.state, run.state))


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
    if run.rate >= 1:
        speed = _("%(rate)s addresses a second", rate=decimal(run.rate, 1))
    else:
        speed = _("%(rate)s addresses a minute", rate=decimal(run.rate * 60, 0))
    if run.remaining_s is None:
        return speed
    return _("%(speed)s, %(time)s left", speed=speed, time=about(run.remaining_s))


def colour(state: str) -> str:
    """Return the colour of an address's badge."""
    if state in BAD_URL_STATES:
        return "bad"
    return {"fetched": "well", "unchanged": "well", WAITING: "busy", "read": "busy"}.get(state, "plain")


def url_word(state: str) -> str:
    return str(URL_WORDS[state][0]) if state in URL_WORDS else state.replace("_", " ").capitalize()


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


def run_of(site_id: str, crawl_id: int) -> CrawlRun:
    """A crawl of this site; any other is not found."""
    run = stores().crawls.get(crawl_id)
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


page = Page(
    tab=lazy("Crawls"), under=sites_page.page, help="crawling#how-do-i-see-what-a-crawl-did-and-what-changed"
)

ROWS = 50
COMPARED = 100
"""Crawls that are offered for a comparison."""


@page.get("/sites/<site_id>/crawls")
def crawls(site: Site) -> ResponseReturnValue:
    """The newest first; with `?kind=` those of one kind."""
    kind = one_of("kind", KIND_WORDS)
    store = stores().crawls
    whole = store.runs(site.id, WHOLE, COMPARED)
    return render_template(
        "admin/crawls.html",
        runs=listed(lambda limit, offset: store.runs(site.id, kind, limit, offset), ROWS),
        whole=whole,
        kind=kind,
        kinds=[("", _("All")), *KIND_WORDS.items()],
        before={later.id: earlier.id for later, earlier in pairwise(whole)},
        kept=configuration().settings.crawling.crawls_kept,
        **_panel(site.id),
    )


@page.get("/sites/<site_id>/crawls/progress")
def crawls_progress(site: Site) -> ResponseReturnValue:
    """Return the progress of the newest crawl; polled by progress.js."""
    shown = _panel(site.id)
    run = stores().crawls.latest(site.id)
    version = version_of(run)
    return progress("admin/_crawl_now.html", active=is_active(run), version=version, **shown)


@page.get("/sites/<site_id>/crawls/compare")
def crawls_compare(site: Site) -> ResponseReturnValue:
    """Leads to the comparison of two crawls that were chosen."""
    one, other = (request.args.get(name, 0, type=int) for name in ("earlier", "later"))
    for crawl_id in (one, other):
        if not crawl_id:
            abort(404)
        run_of(site.id, crawl_id)
    earlier, later = sorted((one, other))
    if earlier == later:
        return refused(_("Choose two different crawls."), "crawls")
    return redirect(url_for("admin.crawl_difference", site_id=site.id, crawl_id=later, earlier_id=earlier))


@page.post("/sites/<site_id>/crawls/page")
def crawl_page(site: Site) -> ResponseReturnValue:
    """Crawls one address again, and leads to its result."""
    typed = request.form.get("url", "").strip()
    try:
        url = start_address(typed if "://" in typed or not typed else f"https://{typed}")
    except BadStart as error:
        return refused(str(error), "crawls", url=typed[:2000])
    crawl_id = crawling().pages.read_again(site.id, url)
    changed("had one page read again", page=url)
    return done(_("The page is crawled again as soon as the queue is free."), "crawl", crawl_id=crawl_id)


def _panel(site_id: str) -> dict[str, object]:
    run = stores().crawls.latest(site_id)
    return {"run": run, "live": stores().content(site_id).counts()}
