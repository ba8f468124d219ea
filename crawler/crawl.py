"""The main path: from start addresses to one outcome per URL.

1. The frontier gets what a journal remembers, the start addresses, the pages known from the last crawl
   and the entries of the sitemaps.
2. Threads take URLs from the frontier and visit them (explorer.py, visit.py). What a visit leads to enters
   the frontier, unless the scope or a trap rule objects.
3. One thread judges the visits (recorder.py, judging/), writes everything to the journal, and then hands
   outcomes to the consumer. A slow consumer slows the crawl down instead of filling the memory.
4. When nothing waits and no visit is under way, URLs beyond the limits are reported.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from queue import Empty

from crawler.discovery.frontier import Frontier, Item, SharedFrontier
from crawler.discovery.scope import CrawlScope
from crawler.discovery.traps import Traps
from crawler.errors import BadStart, FetchError, Refused
from crawler.explorer import Explorer
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.fetcher import Validators
from crawler.fetching.pacer import HostTurns
from crawler.journal import CrawlJournal
from crawler.judging.judge import PageJudge
from crawler.judging.templates import Template
from crawler.options import CrawlOptions, start_address
from crawler.recorder import CrawlRecorder
from crawler.report import CrawlProgress, CrawlReport, UrlOutcome, UrlState
from crawler.visit import CrawlTools, Visit, ended

OnProgress = Callable[[CrawlProgress], None]
_POLL_S = 0.1
_GOODBYE_S = 3.0
_MOST_AT_ONCE = 500


def crawl(  # noqa: PLR0913 - whoever crawls names the few they need
    options: CrawlOptions,
    known: Mapping[str, Validators] | None = None,
    stop: threading.Event | None = None,
    on_progress: OnProgress | None = None,
    *,
    journal: CrawlJournal | None = None,
    template: str = "",
    shared: SharedFrontier | None = None,
    turns: HostTurns | None = None,
) -> Generator[UrlOutcome, None, None]:
    """Crawl a site and yield exactly one outcome for every URL found on it.

    `known`: the URLs of earlier crawls, which are visited again even when nothing links to them; include
    those that failed, with empty validators. `stop` ends the crawl soon; URLs not visited by then have no
    outcome. `on_progress` is called in the consumer's thread after each outcome, and every second
    without one. With a `journal` the crawl resumes where it was interrupted; it yields an outcome again
    until the consumer has called `journal.settle`. `template`: what the journal of an earlier crawl
    noted under that name, the text that recurs on most pages of this site. With a journal, other processes
    visit URLs in `shared` when many wait (see helping.py); `turns` give the pace of a host to all who ask it.
    Closing the iterator ends all requests and threads. Raises BadStart, before anything is fetched.
    """
    for url in options.start_urls:
        _check_start(url, options.guard)
    learned = Template.from_json(template) if template else None
    progress = on_progress or (lambda progress: None)
    made = _Crawl(options, known or {}, journal, learned, stop or threading.Event(), progress, shared, turns)
    return made.run()  # threads and connections start when it is iterated


def _check_start(url: str, guard: AddressGuard) -> None:
    try:
        guard.check(url)
    except Refused as error:
        hint = " To permit it, add it to PRIVATE_HOSTS, set CRAWL_ALLOW_PRIVATE=1 or give --allow-private."
        raise BadStart(f"{url} is not crawled: {error}.{hint if error.can_be_allowed else ''}") from error
    except FetchError:
        return  # its visit reports it like any other unreachable URL


@dataclass(eq=False)
class _Crawl:
    """One crawl: its threads, and what they share."""

    _options: CrawlOptions
    _known: Mapping[str, Validators]
    _journal: CrawlJournal | None
    _template: Template | None
    _stop_wanted: threading.Event
    _on_progress: OnProgress
    _shared: SharedFrontier | None
    _turns: HostTurns | None

    def __post_init__(self) -> None:
        options, known, shared = self._options, self._known, self._shared
        self._began = self._shown = time.monotonic()
        self._out_of_time = False
        self._report = CrawlReport()
        self._frontier = Frontier(options)
        self._tools = CrawlTools(options, known, self._turns)
        self._judge = PageJudge(options, known, self._template)
        traps = Traps(options)
        backlog = 2 * options.concurrency + 16
        self._recorder = CrawlRecorder(self._frontier, self._judge, traps, self._journal, backlog, shared)
        self._explorer = Explorer(
            options, self._tools, self._frontier, traps, known, self._recorder.wait_for_consumer, shared
        )

    def run(self) -> Generator[UrlOutcome, None, None]:
        """Yield the outcomes; the crawl ends with the generator."""
        self._recorder.restore(self._report)
        recording = threading.Thread(
            target=self._recorder.run,
            args=(self._explorer, self._leftovers),
            name="crawl-recorder",
            daemon=True,
        )
        try:
            self._tools.require()
            self._explorer.start()
            recording.start()
            yield from self._outcomes()
        finally:
            self._recorder.stop()
            self._explorer.close()
            if recording.is_alive():
                recording.join(timeout=_GOODBYE_S)
        failure = self._recorder.failure or self._explorer.failure
        if failure is not None:
            raise failure

    def _outcomes(self) -> Iterator[UrlOutcome]:
        while True:
            self._watch_the_time()
            try:
                outcome = self._recorder.outcomes.get(timeout=_POLL_S)
            except Empty:
                self._show(every_s=1.0)
                continue
            if outcome is None:
                return
            self._recorder.outcome_taken()
            self._report.add(outcome)
            self._show()
            yield outcome

    def _watch_the_time(self) -> None:
        if self._stop_wanted.is_set() and not self._explorer.was_stopped:
            self._recorder.stop()
            self._explorer.stop()
        budget = self._options.max_seconds
        if budget and not self._out_of_time and time.monotonic() - self._began > budget:
            self._out_of_time = True
            self._frontier.close()  # what is under way may end

    def _show(self, every_s: float = 0.0) -> None:
        now = time.monotonic()
        if now - self._shown >= every_s:
            self._shown = now
            self._on_progress(self._report.progress(self._frontier.discovered, self._judge.unjudged))

    def _leftovers(self) -> Iterator[Visit]:
        """Yield the URLs that a limit kept from being visited."""
        waiting, deep = self._frontier.left()
        limit = (
            f"the time limit of {self._options.max_seconds:g} s was reached"
            if self._out_of_time
            else f"the limit of {self._options.max_pages} pages was reached"
        )
        for item in waiting:
            yield ended(item, UrlState.OVER_LIMIT, limit)
        while self._shared is not None and (shared := self._shared.take_back(_MOST_AT_ONCE, leased=True)):
            for item in shared:
                yield ended(item, UrlState.OVER_LIMIT, limit)
        for item in deep:
            reason = f"more than {self._options.max_depth} clicks from the start"
            yield ended(item, UrlState.OVER_LIMIT, reason)
        if self._frontier.first_ignored:
            most = self._options.max_urls
            reason = f"the limit of {most} addresses was reached: this one and others were not noted"
            yield ended(Item(self._frontier.first_ignored, 1), UrlState.OVER_LIMIT, reason)


MOST_OUTCOMES = 20
"""The page, and those that it redirects to or names as its original."""


def read_page(
    options: CrawlOptions,
    url: str,
    known: Validators,
    *,
    template: str = "",
    stop: threading.Event | None = None,
) -> list[UrlOutcome]:
    """Visit one page again as a crawl would: the same rules, the same visit, the same cleaning.

    Return the outcome of `url` and of the pages that it redirects to or names as its original, in that
    order; links are not followed. `options` are those of the site, `template` is what the last crawl
    learned about it. Raises BadStart.
    """
    target = start_address(url)
    scope = CrawlScope(options)
    if not scope.same_site(target):
        return [UrlOutcome(target, UrlState.EXCLUDED, "it is on another host than the site")]
    if objection := scope.objection(target):
        return [UrlOutcome(target, *objection)]
    chosen = options.with_changes(
        start_urls=(target,),
        max_depth=0,
        max_pages=MOST_OUTCOMES,
        processes=0,
        use_sitemaps=False,
        max_feeds=0,
    )
    found = crawl(chosen, {target: known}, stop, template=template)
    with closing(found) as outcomes:
        return list(_on_the_way({outcome.url: outcome for outcome in outcomes}, target))


def _on_the_way(outcomes: dict[str, UrlOutcome], url: str) -> Iterator[UrlOutcome]:
    """Yield the outcomes from `url` on, each address once."""
    while url in outcomes:
        outcome = outcomes.pop(url)
        yield outcome
        url = outcome.target
