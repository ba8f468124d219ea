"""The main path: from start addresses to one outcome per URL.

1. What a journal remembers, the start addresses, the pages known from last time and the sitemaps'
   entries enter the frontier.
2. Threads take URLs from it and visit them (visit.py). What a visit leads to enters the frontier,
   unless the scope or a trap rule objects.
3. One thread judges the visits (judging.py), writes all that happened to the journal, and then hands
   outcomes to the consumer. A slow consumer slows the crawl instead of filling the memory.
4. When nothing waits and nothing is under way, what lies beyond the limits is reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from queue import Empty

from crawler.addresses import AddressGuard
from crawler.errors import BadStart, FetchError, Refused
from crawler.explorer import Explorer
from crawler.fetcher import Validators
from crawler.frontier import Frontier, Item
from crawler.journal import Journal
from crawler.judging import Judge
from crawler.options import CrawlOptions
from crawler.recorder import Recorder
from crawler.report import CrawlReport, Progress, UrlOutcome, UrlState
from crawler.template import Template
from crawler.toolbox import Toolbox
from crawler.traps import Traps
from crawler.visit import Visit, ended

OnProgress = Callable[[Progress], None]
_POLL_S = 0.1
_GOODBYE_S = 3.0


def crawl(  # noqa: PLR0913 - whoever crawls names the few they need
    options: CrawlOptions,
    known: Mapping[str, Validators] | None = None,
    stop: threading.Event | None = None,
    on_progress: OnProgress | None = None,
    *,
    guard: AddressGuard | None = None,
    journal: Journal | None = None,
    template: str = "",
) -> Generator[UrlOutcome, None, None]:
    """Crawls a site; every URL found on it ends as exactly one outcome.

    `known` are the URLs of earlier crawls, visited again even when nothing links to them; give those
    that failed too, with empty validators. `stop` ends the crawl soon; what was not visited by then has
    no outcome. `on_progress` is called in the consumer's thread after each outcome, and every second
    without one. With a `journal` the crawl goes on where it was cut off; outcomes are handed out again
    until the consumer has called `journal.settle`. `template` is what the journal of an earlier crawl
    noted under that name: what stands on most pages of this site. Closing the iterator ends all
    requests and threads. Raises BadStart, before anything is fetched.
    """
    guard = guard or AddressGuard(options.allow_private)
    for url in options.start_urls:
        _check_start(url, guard)
    memory = _Memory(known or {}, journal, Template.from_json(template) if template else None)
    return _outcomes(options, guard, memory, stop or threading.Event(), on_progress)


def _check_start(url: str, guard: AddressGuard) -> None:
    try:
        guard.check(url)
    except Refused as error:
        hint = " If that is meant, set CRAWL_ALLOW_PRIVATE=1 or give --allow-private."
        raise BadStart(f"{url} is not crawled: {error}.{hint if error.can_be_allowed else ''}") from error
    except FetchError:
        return  # its visit reports it like any other unreachable URL


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is known before the crawl begins."""

    known: Mapping[str, Validators]
    journal: Journal | None
    template: Template | None


def _outcomes(
    options: CrawlOptions,
    guard: AddressGuard,
    memory: _Memory,
    stop: threading.Event,
    on_progress: OnProgress | None,
) -> Generator[UrlOutcome, None, None]:
    """Threads and connections begin with the first outcome asked for and end with the last."""
    yield from _Crawl(options, guard, memory, stop, on_progress).outcomes()


class _Crawl:
    def __init__(
        self,
        options: CrawlOptions,
        guard: AddressGuard,
        memory: _Memory,
        stop: threading.Event,
        on_progress: OnProgress | None,
    ) -> None:
        self._options = options
        self._stop_wanted = stop
        self._on_progress = on_progress
        self._began = self._shown = time.monotonic()
        self._out_of_time = False
        self._report = CrawlReport()
        self._frontier = Frontier(
            max_pages=options.max_pages, max_depth=options.max_depth, max_urls=options.max_urls
        )
        self._tools = tools = Toolbox(options, guard, memory.known)
        self._judge = Judge(options, memory.known, memory.template)
        traps = Traps(options)
        most = 2 * options.concurrency + 16
        self._recorder = Recorder(self._frontier, self._judge, traps, memory.journal, most)
        self._explorer = Explorer(
            options, tools, self._frontier, traps, memory.known, self._recorder.may_go_on
        )

    def outcomes(self) -> Iterator[UrlOutcome]:
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
            yield from self._handed_out()
        finally:
            self._recorder.stop()
            self._explorer.close()
            if recording.is_alive():
                recording.join(timeout=_GOODBYE_S)
        failure = self._recorder.failure or self._explorer.failure
        if failure is not None:
            raise failure

    def _handed_out(self) -> Iterator[UrlOutcome]:
        while True:
            self._watch_the_time()
            try:
                outcome = self._recorder.outcomes.get(timeout=_POLL_S)
            except Empty:
                self._show(every_s=1.0)
                continue
            if outcome is None:
                return
            self._recorder.taken()
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
        if self._on_progress is not None and now - self._shown >= every_s:
            self._shown = now
            self._on_progress(self._report.progress(self._frontier.discovered, self._judge.unjudged))

    def _leftovers(self) -> Iterator[Visit]:
        waiting, deep = self._frontier.left()
        limit = (
            f"the time limit of {self._options.max_seconds:g} s was reached"
            if self._out_of_time
            else f"the limit of {self._options.max_pages} pages was reached"
        )
        for item in waiting:
            yield ended(item, UrlState.OVER_LIMIT, limit)
        for item in deep:
            reason = f"more than {self._options.max_depth} clicks from the start"
            yield ended(item, UrlState.OVER_LIMIT, reason)
        if self._frontier.first_ignored:
            most = self._options.max_urls
            reason = f"the limit of {most} addresses was reached: this one and others were not noted"
            yield ended(Item(self._frontier.first_ignored, 1), UrlState.OVER_LIMIT, reason)
