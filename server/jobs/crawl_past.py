"""What a crawl knows of the past: of earlier crawls, and of its own runs before it was cut off."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from crawler.errors import CrawlError
from crawler.fetching.fetcher import Validators
from crawler.journal import READ, WAITING, CrawlJournal
from crawler.report import HAS_PAGE, CrawlReport, UrlOutcome, UrlState
from server.storage.content.reader import PageRecord
from server.storage.crawls.runs import CrawlRun, CrawlStore

UNREAD = (UrlState.ERROR, UrlState.OVER_LIMIT, WAITING, READ)
"""States of addresses that a crawl could not read, or did not come to."""
MOST_CUTS = 5
CUTS = "cuts"


def known_addresses(
    pages: Mapping[str, PageRecord],
    crawls: CrawlStore,
    run: CrawlRun,
    whole: Collection[str] = (),
    own_hashes: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Validators]:
    """The pages of the last crawl, and the addresses that it could not read or did not come to: a page
    that has not changed is not read for links again. What this crawl itself found, before it was cut off,
    is new. The pages of `whole` are sent again even if they have not changed. `own_hashes` are those of the
    website's version of pages of which another one is indexed."""
    known: dict[str, Validators] = {}
    fingerprints: dict[str, int] = {}
    before = next((other for other in crawls.history(run.site_id) if other.id < run.id), None)
    if before is not None:
        known = {url: Validators() for url, _, _ in crawls.addresses.ends(before.id, UNREAD)}
        fingerprints = crawls.addresses.fingerprints(before.id)
    for url, page in pages.items():
        is_new = page.first_seen_at is not None and page.first_seen_at >= run.started_at
        if not page.source and not is_new:
            seen = fingerprints.get(url, 0)
            etag, modified = ("", "") if url in whole else (page.etag, page.last_modified)
            known[url] = Validators(etag, modified, own_hashes.get(url, page.content_hash), seen)
    return known


def problem(crawls: CrawlStore, crawl_id: int) -> str:
    """One line on why the crawl brought no page home and what to do; empty when it did."""
    if crawls.addresses.ends(crawl_id, HAS_PAGE):
        return ""
    report = CrawlReport()
    for row in crawls.addresses.at_start(crawl_id):
        if row.state not in (WAITING, READ):
            report.add(UrlOutcome(row.url, UrlState(row.state), row.reason, row.status))
    return report.problem()


class Interruptions:
    """Counts how often a crawl was cut off at the same place, so that what kills its worker each time does
    not do so for ever."""

    def __init__(self, journal: CrawlJournal, crawls: CrawlStore, run: CrawlRun) -> None:
        self._journal = journal
        self._last = journal.notes().get(CUTS, "")
        counts = crawls.addresses.counts([run.id])[run.id]
        self._done = sum(count for state, count in counts.items() if state != WAITING)

    @property
    def before(self) -> bool:
        """Whether there was a run before this one."""
        return bool(self._last)

    def forgive(self) -> None:
        """This run ends in good order."""
        self._journal.note(CUTS, f"{self._done}/-1")

    def check(self) -> None:
        """At the start of each run. Raises CrawlError."""
        done, _, cuts = self._last.partition("/")
        times = int(cuts) + 1 if self._last and int(done) == self._done else 0
        self._journal.note(CUTS, f"{self._done}/{times}")
        if times > MOST_CUTS:
            self.forgive()
            raise CrawlError(
                f"The worker was cut off {times} times without getting on: look into its log, then resume "
                "the crawl"
            )
