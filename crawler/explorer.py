"""The threads that visit URLs and find more.

Each visit becomes a Step: what came of it, with all that it led to, so that the two are remembered
together or not at all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from crawler import urls
from crawler.frontier import Frontier, Item
from crawler.options import CrawlOptions
from crawler.report import UrlState
from crawler.scope import Scope
from crawler.sitemap import Sitemaps
from crawler.toolbox import Toolbox
from crawler.traps import Traps
from crawler.visit import Visit, ended

_GOODBYE_S = 3.0
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Step:
    """What happened at one moment of a crawl."""

    visit: Visit | None = None
    found: list[Item] = field(default_factory=list)
    """URLs that now wait."""
    objected: list[Visit] = field(default_factory=list)
    """URLs that ended unvisited, because of a rule."""


class Explorer:
    """Fills `steps` until the frontier is empty. `may_go_on` blocks while the consumer is behind."""

    def __init__(
        self,
        options: CrawlOptions,
        tools: Toolbox,
        frontier: Frontier,
        traps: Traps,
        known: Iterable[str],
        may_go_on: Callable[[], None],
    ) -> None:
        self._options = options
        self._tools = tools
        self._frontier = frontier
        self._known = known
        self._may_go_on = may_go_on
        self._scope = Scope(options)
        self._traps = traps
        self._threads: list[threading.Thread] = []
        self.steps: SimpleQueue[Step] = SimpleQueue()
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begins with the start addresses, the known pages and the sitemaps."""
        self._frontier.expect_more()
        jobs = [self._seed] + [self._work] * self._options.concurrency
        for number, job in enumerate(jobs):
            thread = threading.Thread(target=self._guarded, args=(job,), name=f"crawl-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def is_alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    @property
    def was_stopped(self) -> bool:
        """Whether `stop` was called: what waits may be visited another time."""
        return self._tools.stopped.is_set()

    def stop(self) -> None:
        """Ends soon: requests under way are cut off, and nothing comes of them."""
        self._tools.close()
        self._frontier.close()

    def close(self) -> None:
        """Stops and waits for the threads, a few seconds at most."""
        self.stop()
        deadline = time.monotonic() + _GOODBYE_S
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again in the consumer's thread, not lost
            self.failure = error
            self.stop()

    def _seed(self) -> None:
        """Runs beside the first visits: a long sitemap must not delay them."""
        try:
            step = Step()
            for url in self._options.start_urls:
                self._discover(step, Item(url, 0))
            for url in self._known:
                step = self._handed_on(step)
                self._discover(step, Item(url, 1))
            self.steps.put(step)
            if self._options.use_sitemaps:
                self._read_sitemaps()
        finally:
            self._frontier.no_more()

    def _read_sitemaps(self) -> None:
        step = Step()
        tools = self._tools
        sitemaps = Sitemaps(self._options, tools.robots, tools.fetcher, tools.pacer.wait)
        for start in {urls.origin(url): url for url in self._options.start_urls}.values():
            tools.pacer.at_least(tools.robots.delay_s(start), start)
            for entry in sitemaps.listed(start, self._scope.same_site):
                if tools.stopped.is_set():
                    return
                step = self._handed_on(step)
                self._discover(step, Item(entry.url, 1))
        for problem in sitemaps.problems:
            self._note_unread(step, problem)
        self.steps.put(step)

    def _note_unread(self, step: Step, problem: str) -> None:
        """A sitemap with a fault is an address that ended, for the operator to see."""
        address, colon, reason = problem.partition(": ")
        if colon and self._frontier.enter(address):
            step.objected.append(ended(Item(address, 1), UrlState.UNSUPPORTED, f"a sitemap: {reason}"))

    def _handed_on(self, step: Step) -> Step:
        """Small steps: what was found is soon remembered and shown."""
        if len(step.found) + len(step.objected) < _BATCH:
            return step
        self.steps.put(step)
        return Step()

    def _work(self) -> None:
        self._may_go_on()
        while (item := self._frontier.take()) is not None:
            visit = self._visit(item)
            if self._tools.stopped.is_set():
                return  # what came of it may be the stop's doing
            self.steps.put(self._followed(item, visit))
            self._may_go_on()

    def _visit(self, item: Item) -> Visit:
        other = self._frontier.same_as(item)
        if other:
            return ended(item, UrlState.DUPLICATE, f"same page as {other}")
        trap = self._traps.closed(item.url)
        if trap:
            return ended(item, UrlState.OVER_LIMIT, trap)
        self._tools.pacer.at_least(self._tools.robots.delay_s(item.url), item.url)
        return self._tools.visits.visit(item)

    def _followed(self, item: Item, visit: Visit) -> Step:
        """The visit, with where it leads entered."""
        step = Step(visit)
        if visit.redirect:
            if self._scope.same_site(visit.redirect):
                target = Item(visit.redirect, item.depth, item.hops + 1, item.found_on)
                self._discover(step, target, first=True)
            else:
                reason = f"{visit.outcome.reason}, which is another site"
                visit = replace(visit, outcome=replace(visit.outcome, reason=reason))
        for url in (*visit.follow, *self._tools.feeds.listed(visit.feeds)):
            self._discover(step, Item(url, item.depth + 1, found_on=item.url))
        if visit.canonical:
            named = Item(visit.canonical, item.depth, found_on=item.url)
            canonical = self._frontier.same_as(named) or visit.canonical
            self._discover(step, replace(named, url=canonical), first=True)
            visit = replace(visit, canonical=canonical)
        return replace(step, visit=visit)

    def _discover(self, step: Step, item: Item, *, first: bool = False) -> None:
        if self._frontier.knows(item.url) or not self._scope.same_site(item.url):
            return
        objection = self._scope.objection(item.url)
        if objection is None:
            trap = self._traps.objection(item.url, item.depth)
            objection = (UrlState.OVER_LIMIT, trap) if trap else None
        if objection is None:
            added = self._frontier.add(item, first=first)
            if added is not None:
                step.found.append(added)
        elif self._frontier.enter(item.url):
            step.objected.append(ended(item, *objection))
