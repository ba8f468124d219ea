"""What a crawl knows of earlier runs when it starts, and how the pages that it reads reach the index and are
settled in the journal."""

import json
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any

from crawler.errors import CrawlError
from crawler.fetching.fetcher import Validators
from crawler.journal import READ, WAITING, CrawlJournal
from crawler.page import Page
from crawler.report import HAS_PAGE, CrawlProgress, CrawlReport, UrlOutcome, UrlState
from crawler.spilling import Spilling
from server.indexing.indexer import Indexer, IndexReport
from server.jobs.page_edits import DecidedPages
from server.metrics import PAGES
from server.storage.content.reader import PageRecord
from server.storage.crawls.runs import CrawlRun, CrawlStore

UNREAD = (UrlState.ERROR, UrlState.OVER_LIMIT, WAITING, READ)
"""States of addresses that a crawl could not read, or did not come to."""
LINKED = frozenset(UrlState) - HAS_PAGE - frozenset(UNREAD)
"""States of addresses that may be pages by now, but are visited only where something links to them."""
MOST_LINKED = 500
"""Such addresses that are remembered of one page."""
MOST_CUTS = 5
CUTS = "cuts"


def known_addresses(
    pages: Mapping[str, PageRecord],
    crawls: CrawlStore,
    run: CrawlRun,
    whole: Collection[str],
    own_hashes: Mapping[str, str],
) -> Mapping[str, Validators]:
    """The pages of the last crawl, and the addresses that it could not read or did not come to: a page
    that has not changed is not read for links again, so each page has the addresses that were found on it and
    were no pages. What this crawl itself found, before it was cut off, is new. The pages of `whole` are sent
    again even if they have not changed. `own_hashes` are those of the website's version of pages of which
    another one is indexed."""
    known: Spilling[Validators] = Spilling(astuple, _validators)
    fingerprints: Spilling[int] = Spilling()
    linked: Spilling[list[str]] = Spilling()
    before = next((other for other in crawls.history(run.site_id) if other.id < run.id), None)
    if before is not None:
        known.update((url, Validators()) for url, _, _ in crawls.addresses.ends(before.id, UNREAD))
        fingerprints.update(crawls.addresses.fingerprints(before.id))
        for url, found_on in crawls.addresses.linked(before.id, LINKED):
            there = linked.get(found_on, [])
            if len(there) < MOST_LINKED:
                linked[found_on] = [*there, url]
    for url, page in pages.items():
        is_new = page.first_seen_at is not None and page.first_seen_at >= run.started_at
        if not page.source and not is_new:
            seen = fingerprints.get(url, 0)
            etag, modified = ("", "") if url in whole else (page.etag, page.last_modified)
            own, links = own_hashes.get(url, page.content_hash), tuple(linked.get(url, ()))
            known[url] = Validators(etag, modified, own, seen, links)
    return known


def problem(crawls: CrawlStore, crawl_id: int) -> str:
    """One line on why the crawl brought no page home and what to do; empty when it did."""
    if not HAS_PAGE.isdisjoint(crawls.addresses.counts([crawl_id])[crawl_id]):
        return ""
    report = CrawlReport()
    for row in crawls.addresses.at_start(crawl_id):
        if row.state not in (WAITING, READ):
            report.add(UrlOutcome(row.url, UrlState(row.state), row.reason, row.status))
    return report.problem()


def _validators(row: list[Any]) -> Validators:
    etag, modified, content_hash, fingerprint, links = row
    return Validators(etag, modified, content_hash, fingerprint, tuple(links))


class Interruptions:
    """Counts how often a crawl was cut off at the same place, so that what kills its worker each time does
    not do so for ever."""

    def __init__(self, journal: CrawlJournal, crawls: CrawlStore, run: CrawlRun) -> None:
        self._journal = journal
        self._waited_for = run.message
        self._last = journal.notes().get(CUTS, "")
        self.before = bool(self._last)
        """Whether there was a run before this one."""
        counts = crawls.addresses.counts([run.id])[run.id]
        self._done = sum(count for state, count in counts.items() if state != WAITING)

    def forgive(self) -> None:
        """This run ends in good order."""
        self._journal.note(CUTS, f"{self._done}/-1")

    def check(self) -> None:
        """At the start of each run. Raises CrawlError."""
        done, _, cuts = self._last.partition("/")
        times = int(cuts) + 1 if self.before and int(done) == self._done else 0
        self._journal.note(CUTS, f"{self._done}/{times}")
        if times > MOST_CUTS:
            self.forgive()
            why = self._waited_for or f"The worker was cut off {times} times without getting on"
            raise CrawlError(f"{why}: look into its log, then resume the crawl")


WINDOW_S = 60.0
ENOUGH_S = 5.0
"""Nothing is foretold from less."""
CLEARLY = 1.25
"""So much faster than addresses are found must they be done, or the end is not in sight."""
LONGEST_S = 7 * 86_400


class CrawlPace:
    """Fed with how many addresses were found and done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int, int]] = deque()

    def note(self, found: int, done: int) -> None:
        """As it is now."""
        now = self._clock()
        self._seen.append((now, found, done))
        while now - self._seen[0][0] > WINDOW_S and len(self._seen) > 2:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Addresses done in a second, over the last minute."""
        if len(self._seen) < 2:
            return 0.0
        (began, _, before), (now, _, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - began) if now > began else 0.0

    @property
    def remaining_s(self) -> int | None:
        """Seconds until nothing is left; None while as much is found as is done, or nothing moves."""
        if not self._seen or self._seen[-1][0] - self._seen[0][0] < ENOUGH_S:
            return None
        (began, found_before, _), (now, found, done) = self._seen[0], self._seen[-1]
        growth = (found - found_before) / (now - began)
        if self.rate <= 0 or self.rate < growth * CLEARLY:
            return None
        left = (found - done) / (self.rate - growth)
        return round(left) if left <= LONGEST_S else None


ProgressCallback = Callable[[int, int, int], None]
"""Called with pages found, fetched and indexed."""

RECORD_EVERY_S = 0.5
"""Seconds between two writes of a crawl's progress."""
REPORT = "index_report"
"""Name of the note with what the build did so far."""
LEADING = frozenset({UrlState.REDIRECTED, UrlState.DUPLICATE})


@dataclass(eq=False)
class CrawlIntake:
    """For one run over a crawl. An outcome is settled when its page is in the content store and in every
    index; one that leads elsewhere stays open until the crawl is over, for only then it is known whether
    a page moved."""

    _crawls: CrawlStore
    _crawl_id: int
    _journal: CrawlJournal
    _indexer: Indexer
    _publish_s: float
    """Seconds between two times that the pages read so far go live; 0: only at the end."""
    _is_gated: bool
    """Whether it is only written."""
    _on_progress: ProgressCallback
    _decided: DecidedPages

    def __post_init__(self) -> None:
        self._open: dict[str, None] = {}
        self._pace = CrawlPace()
        self._found = self._fetched = self._published_pages = 0
        self._written = self._published = time.monotonic()
        self.moves: dict[str, str] = {}
        """Address -> where it leads."""
        self._came_from: dict[str, str] = {}
        self._kept_out: set[str] = set()

    def take(self, outcome: UrlOutcome) -> None:
        """One outcome, perhaps not for the first time."""
        PAGES.count(outcome.state)
        self._open[outcome.url] = None
        known = outcome.url in self._indexer.known
        if outcome.page is not None:
            self._take_page(outcome.page)
        elif outcome.state is UrlState.UNCHANGED:
            self._indexer.unchanged(outcome.url)
        elif outcome.state in LEADING and outcome.target:
            self.moves[outcome.url] = outcome.target
            if known:
                self._came_from[outcome.target] = outcome.url

    def _take_page(self, page: Page) -> None:
        """As it was read, or as an operator decided about it."""
        taken = self._decided.taken(page)
        if taken is not None:
            self._indexer.add(taken, moved_from=self._came_from.get(page.url, ""))
            return
        if page.url in self._indexer.known:
            self._indexer.remove(page.url)
        self._kept_out.add(page.url)

    def crawled(self, progress: CrawlProgress) -> None:
        """After each outcome, and every second without one."""
        self._found, self._fetched = progress.discovered, progress.pages
        now = time.monotonic()
        if self._publish_s and now - self._published >= self._publish_s:
            self._publish()
        if now - self._written >= RECORD_EVERY_S:
            self._pace.note(progress.discovered, progress.done)
            self.record()

    def record(self) -> None:
        """Settles what may be settled and writes how far the crawl is."""
        self._written = time.monotonic()
        waiting = self._indexer.waiting
        self.settle([url for url in self._open if url not in waiting and url not in self.moves])
        indexed = self._indexer.pages_done
        rate, remaining = self._pace.rate, self._pace.remaining_s
        self._crawls.progress(self._crawl_id, self._found, self._fetched, indexed, rate, remaining)
        self._on_progress(self._found, self._fetched, indexed)

    def settle(self, urls: Collection[str]) -> None:
        """Never before the index has them."""
        if urls:
            self._journal.settle(list(urls))
            self._crawls.addresses.keep_out(self._crawl_id, sorted(self._kept_out.intersection(urls)))
            self._journal.note(REPORT, json.dumps(asdict(self._indexer.report)))
            for url in urls:
                self._open.pop(url, None)

    def settle_all(self) -> None:
        """What stayed open until the crawl was over, too."""
        self.settle(list(self._open))

    def _publish(self) -> None:
        self._published = time.monotonic()
        if self._indexer.waiting or self._indexer.report.pages_indexed != self._published_pages:
            if self._is_gated:
                self._indexer.flush()
            else:
                self._indexer.publish()
            self._published_pages = self._indexer.report.pages_indexed


def report_so_far(journal: CrawlJournal) -> IndexReport:
    """What the build of this crawl did before it was cut off."""
    stored = journal.notes().get(REPORT)
    return IndexReport(**json.loads(stored)) if stored else IndexReport()
