"""The main path: from start addresses to one outcome per URL.

1. The start addresses, the pages known from last time and the sitemaps' entries enter the frontier.
2. Threads take URLs from it and visit them (visit.py).
3. What a visit leads to enters the frontier, unless the scope objects.
4. Copies are told from originals (duplicates.py), and outcomes go to the consumer through a bounded
   queue: a slow consumer slows the crawl instead of filling the memory.
5. When nothing waits and nothing is under way, what lies beyond the limits is reported.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from crawler import urls
from crawler.addresses import AddressGuard
from crawler.duplicates import Duplicates, as_duplicate
from crawler.errors import BadStart, FetchError, Refused
from crawler.fetcher import Fetcher, Validators
from crawler.frontier import Frontier, Item
from crawler.options import CrawlOptions
from crawler.pacer import Pacer
from crawler.reading import PageReader
from crawler.report import HAS_PAGE, CrawlReport, Progress, UrlOutcome, UrlState
from crawler.robots import Robots
from crawler.scope import Scope
from crawler.sitemap import listed_urls
from crawler.visit import Visit, Visits

_POLL_S = 0.1
_GOODBYE_S = 3.0

OnProgress = Callable[[Progress], None]


def crawl(
    options: CrawlOptions,
    known: Mapping[str, Validators] | None = None,
    stop: threading.Event | None = None,
    on_progress: OnProgress | None = None,
    *,
    guard: AddressGuard | None = None,
) -> Generator[UrlOutcome, None, None]:
    """Crawls a site; every URL found on it ends as exactly one outcome.

    `known` are the URLs of earlier crawls, visited again even when nothing links to them; give those
    that failed too, with empty validators. `stop` ends the crawl soon; what was not visited by then has
    no outcome. `on_progress` is called in the consumer's thread after each outcome. Closing the
    iterator ends all requests and threads. Raises BadStart, before anything is fetched.
    """
    guard = guard or AddressGuard(options.allow_private)
    for url in options.start_urls:
        _check_start(url, guard)
    return _outcomes(options, known or {}, stop or threading.Event(), guard, on_progress)


def _check_start(url: str, guard: AddressGuard) -> None:
    try:
        guard.check(url)
    except Refused as error:
        hint = " If that is meant, set CRAWL_ALLOW_PRIVATE=1 or give --allow-private."
        raise BadStart(f"{url} is not crawled: {error}.{hint if error.can_be_allowed else ''}") from error
    except FetchError:
        return  # its visit reports it like any other unreachable URL


def _outcomes(
    options: CrawlOptions,
    known: Mapping[str, Validators],
    stop: threading.Event,
    guard: AddressGuard,
    on_progress: OnProgress | None,
) -> Generator[UrlOutcome, None, None]:
    """Threads and connections begin with the first outcome asked for and end with the last."""
    yield from _Crawl(options, known, stop, guard).outcomes(on_progress)


class _Crawl:
    def __init__(
        self,
        options: CrawlOptions,
        known: Mapping[str, Validators],
        stop: threading.Event,
        guard: AddressGuard,
    ) -> None:
        self._options = options
        self._known = known
        self._stop_wanted = stop
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._scope = Scope(options)
        self._frontier = Frontier(
            max_pages=options.max_pages, max_depth=options.max_depth, max_urls=options.max_urls
        )
        self._fetcher = Fetcher(options, guard)
        self._robots = Robots(options, self._fetcher)
        self._pacer = Pacer(options.delay_s, self._stopped)
        self._reader = PageReader(options.processes)
        self._visits = Visits(options, self._fetcher, self._robots, self._pacer, self._reader, known)
        self._duplicates = Duplicates(known)
        self._out: queue.Queue[UrlOutcome] = queue.Queue(maxsize=2 * options.concurrency + 16)
        self._threads: list[threading.Thread] = []

    def outcomes(self, on_progress: OnProgress | None) -> Iterator[UrlOutcome]:
        report = CrawlReport()
        try:
            self._start()
            for outcome in self._all_outcomes():
                report.add(outcome)
                if on_progress is not None:
                    on_progress(report.progress(self._frontier.discovered))
                yield outcome
        finally:
            self._close()
        if self._failure is not None:
            raise self._failure

    def _start(self) -> None:
        for url in self._options.start_urls:
            self._discover(url, 0)
        jobs = [self._work] * self._options.concurrency
        if self._known or self._options.use_sitemaps:
            self._frontier.expect_more()
            jobs.append(self._seed)
        for number, job in enumerate(jobs):
            thread = threading.Thread(target=self._guarded, args=(job,), name=f"crawl-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _all_outcomes(self) -> Iterator[UrlOutcome]:
        while not self._stop_wanted.is_set() and self._failure is None:
            working = any(thread.is_alive() for thread in self._threads)
            try:
                yield self._out.get(timeout=_POLL_S if working else 0)
            except queue.Empty:
                if not working:
                    yield from self._leftovers()
                    return
        with suppress(queue.Empty):
            while True:
                yield self._out.get_nowait()

    def _leftovers(self) -> Iterator[UrlOutcome]:
        yield from self._duplicates.never_ended()
        waiting, deep = self._frontier.left()
        for item in waiting:
            reason = f"the limit of {self._options.max_pages} pages was reached"
            yield UrlOutcome(item.url, UrlState.OVER_LIMIT, reason, depth=item.depth)
        for item in deep:
            reason = f"more than {self._options.max_depth} clicks from the start"
            yield UrlOutcome(item.url, UrlState.OVER_LIMIT, reason, depth=item.depth)

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again in the consumer's thread, not lost
            self._failure = error
            self._frontier.close()

    def _seed(self) -> None:
        """Runs beside the first visits: a long sitemap must not delay them."""
        try:
            for url in self._known:
                self._discover(url, 1)
            if self._options.use_sitemaps:
                for start in {urls.origin(url): url for url in self._options.start_urls}.values():
                    self._pacer.at_least(self._robots.delay_s(start))
                    for url in listed_urls(start, self._robots, self._fetcher):
                        if self._stopped.is_set():
                            return
                        self._discover(url, 1)
        finally:
            self._frontier.no_more()

    def _work(self) -> None:
        while (item := self._frontier.take()) is not None:
            visit = self._visit(item)
            if self._stopped.is_set():
                return  # what came of it may be the stop's doing
            keeps_slot = self._take_up(item, visit)
            self._frontier.settle(keeps_slot=keeps_slot)

    def _visit(self, item: Item) -> Visit:
        other = self._frontier.same_as(item.url)
        if other:
            return Visit(UrlOutcome(item.url, UrlState.DUPLICATE, f"same page as {other}", depth=item.depth))
        self._pacer.at_least(self._robots.delay_s(item.url))
        return self._visits.visit(item)

    def _take_up(self, item: Item, visit: Visit) -> bool:
        """Follows where the visit leads, then passes its outcome on. True when it keeps its page slot."""
        outcome = visit.outcome
        if visit.redirect:
            if self._scope.same_site(visit.redirect):
                self._discover(visit.redirect, item.depth, hops=item.hops + 1, first=True)
            else:
                outcome = replace(outcome, reason=f"{outcome.reason}, which is another site")
        for url in visit.follow:
            self._discover(url, item.depth + 1)
        if visit.canonical:
            self._discover(visit.canonical, item.depth, first=True)
            reason = f"says it is a copy of {visit.canonical}"
            if self._duplicates.hold(outcome, visit.canonical, reason):
                return True
            if self._duplicates.is_copy(visit.canonical):
                outcome = as_duplicate(outcome, reason)
        return self._conclude(outcome)

    def _conclude(self, outcome: UrlOutcome) -> bool:
        page = outcome.page
        if outcome.state is UrlState.FETCHED and page is not None:
            original = self._duplicates.original_of(outcome)
            if original != outcome.url:
                reason = f"same content as {original}"
                if self._duplicates.hold(outcome, original, reason, page.content_hash):
                    return True
                if self._duplicates.is_copy(original, page.content_hash):
                    self._learn_index(outcome.url, original)
                    outcome = as_duplicate(outcome, reason)
        content_hash = page.content_hash if page else self._hash_known(outcome.url)
        self._emit(outcome)
        for waiting in self._duplicates.ended(outcome, content_hash):
            if waiting.state is UrlState.DUPLICATE:
                self._learn_index(waiting.url, outcome.url)
            if not self._conclude(waiting):
                self._frontier.release_slot()
        return outcome.state in HAS_PAGE

    def _discover(self, url: str, depth: int, *, hops: int = 0, first: bool = False) -> None:
        if not self._scope.same_site(url):
            return
        objection = self._scope.objection(url)
        if objection is None:
            self._frontier.add(url, depth, hops=hops, first=first)
        elif self._frontier.enter(url):
            self._conclude(UrlOutcome(url, *objection, depth=depth))

    def _hash_known(self, url: str) -> str:
        entry = self._known.get(url)
        return entry.content_hash if entry else ""

    def _learn_index(self, one: str, other: str) -> None:
        long, short = (one, other) if len(one) > len(other) else (other, one)
        if urls.without_index(long) == short:
            self._frontier.learn_index_name(urls.index_name(long))

    def _emit(self, outcome: UrlOutcome) -> None:
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._out.put(outcome, timeout=_POLL_S)
                return

    def _close(self) -> None:
        self._stopped.set()
        self._frontier.close()
        self._fetcher.close()
        self._reader.close()
        deadline = time.monotonic() + _GOODBYE_S
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
