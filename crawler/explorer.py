"""The threads that visit URLs and find more.

Each visit becomes an ExplainedStep: its result together with everything it led to, so that the journal
stores both or neither.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue

from crawler.discovery import urls
from crawler.discovery.frontier import Frontier, Item, SharedFrontier
from crawler.discovery.scope import CrawlScope
from crawler.discovery.sitemap import Sitemaps
from crawler.discovery.traps import Traps
from crawler.fetching.fetcher import Validators
from crawler.options import CrawlOptions
from crawler.report import UrlState
from crawler.visit import CrawlTools, Visit, ended, visit_from_text

_GOODBYE_S = 3.0
_BATCH = 500
_KEPT = 100
"""URLs that wait in this process while others wait in the shared frontier."""
_SHARE_S = 0.2
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """The result of one piece of work."""

    visit: Visit | None = None
    found: list[Item] = field(default_factory=list)
    """URLs that entered the queue."""
    objected: list[Visit] = field(default_factory=list)
    """URLs that a rule ended without a visit."""
    is_shared: bool = False
    """Whether another process made the visit."""


@dataclass(eq=False)
class Explorer:
    """Fills `steps` until the frontier is empty."""

    _options: CrawlOptions
    _tools: CrawlTools
    _frontier: Frontier
    _traps: Traps
    _known: Mapping[str, Validators]
    _may_go_on: Callable[[float | None], bool]
    """Blocks while the consumer lags."""
    _shared: SharedFrontier | None = None

    def __post_init__(self) -> None:
        self._scope = CrawlScope(self._options)
        self._sharing = threading.Lock()
        self._taken_in: set[str] = set()
        """URLs whose visits were taken in and are not in the journal yet."""
        self._threads: list[threading.Thread] = []
        self.steps: SimpleQueue[ExplainedStep] = SimpleQueue()
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Start the threads: one reads known pages and sitemaps, the others visit URLs."""
        self._frontier.expect_more()
        jobs = [self._seed] + [self._work] * self._options.concurrency
        if self._shared is not None and not self._shared.is_empty():
            self._share_now()
        for job in jobs:
            self._run(job)

    def _run(self, job: Callable[[], None]) -> None:
        name = f"crawl-{len(self._threads)}"
        thread = threading.Thread(target=self._guarded, args=(job,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    @property
    def is_alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    @property
    def was_stopped(self) -> bool:
        """Whether `stop` was called: a resumed crawl may visit what waits."""
        return self._tools.stopped.is_set()

    def stop(self) -> None:
        """Cut off requests under way and discard their results."""
        self._tools.close()
        self._frontier.close()

    def close(self) -> None:
        """Stop, and wait a few seconds at most for the threads."""
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
        """Add the start addresses, known pages and sitemap entries, while the first visits run already."""
        try:
            step = ExplainedStep()
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
        step = ExplainedStep()
        tools = self._tools
        sitemaps = Sitemaps(self._options, tools.robots, tools.fetcher, tools.pacer.wait)
        for start in {urls.origin(url): url for url in self._options.start_urls}.values():
            tools.pacer.at_least(tools.robots.delay_s(start), start)
            for url in sitemaps.listed(start, self._scope.same_site):
                if tools.stopped.is_set():
                    return
                step = self._handed_on(step)
                self._discover(step, Item(url, 1))
        for problem in sitemaps.problems:
            self._note_unread(step, problem)
        self.steps.put(step)

    def _note_unread(self, step: ExplainedStep, problem: str) -> None:
        """Report a sitemap with a fault as an address that ended, so that the operator sees it."""
        address, colon, reason = problem.partition(": ")
        if colon and self._frontier.enter(address):
            step.objected.append(ended(Item(address, 1), UrlState.UNSUPPORTED, f"a sitemap: {reason}"))

    def _handed_on(self, step: ExplainedStep) -> ExplainedStep:
        """Publish a step that is large enough, so that what was found is soon stored and shown."""
        if len(step.found) + len(step.objected) < _BATCH:
            return step
        self.steps.put(step)
        return ExplainedStep()

    def _work(self) -> None:
        self._may_go_on(None)
        while (item := self._frontier.take()) is not None:
            visit = self._not_visited(item) or self._tools.visit(item)
            if self._tools.stopped.is_set():
                return  # what came of it may be the stop's doing
            self.steps.put(self._followed(item, visit))
            self._may_go_on(None)

    def _not_visited(self, item: Item) -> Visit | None:
        """Return the end of a URL that needs no visit any more."""
        other = self._frontier.same_as(item)
        if other:
            return ended(item, UrlState.DUPLICATE, f"same page as {other}")
        trap = self._traps.closed(item.url)
        return ended(item, UrlState.OVER_LIMIT, trap) if trap else None

    def _share_now(self) -> None:
        """Begin to share URLs with other processes, unless that goes on already."""
        if self._shared is not None and self._sharing.acquire(blocking=False):
            self._frontier.expect_more()
            self._run(partial(self._share, self._shared))

    def _share(self, shared: SharedFrontier) -> None:
        """Exchange URLs and visits with other processes until no URL is left in the shared frontier."""
        kept = min(_KEPT, self._options.share_from)
        try:
            while not self._tools.stopped.is_set() and not self._frontier.is_closed:
                given = self._frontier.surplus(kept, _BATCH)
                shared.put(given)
                if self._frontier.waiting <= kept // 2:
                    self._frontier.put_back(shared.take_back(kept))
                visits = self._take_in(shared)
                self._tools.pacer.shared_by(shared.processes())
                is_over = self._frontier.is_full and self._frontier.expected == 1
                if is_over or (not given and shared.is_empty()):
                    break
                if not given and not visits:
                    self._tools.stopped.wait(_SHARE_S)
        finally:
            self._sharing.release()
            self._frontier.no_more()

    def _take_in(self, shared: SharedFrontier) -> int:
        """Go on with the visits of other processes as with those of this one; return how many there were."""
        if self._taken_in or not self._may_go_on(0.0):
            return 0
        number = 0
        for item, text in shared.brought(_KEPT):
            if not self._frontier.take_in(item.url):
                break
            self._taken_in.add(item.url)
            visit = self._not_visited(item) or visit_from_text(text, item)
            self.steps.put(replace(self._followed(item, visit), is_shared=True))
            number += 1
        return number

    def recorded(self, steps: Sequence[ExplainedStep]) -> None:
        """Note that these steps are in the journal."""
        urls = [step.visit.item.url for step in steps if step.is_shared and step.visit]
        if urls and self._shared is not None:
            self._shared.recorded(urls)
            self._taken_in.difference_update(urls)

    def _followed(self, item: Item, visit: Visit) -> ExplainedStep:
        """Add everything the visit leads to, and return both as a step."""
        step = ExplainedStep(visit)
        if visit.redirect:
            if self._scope.same_site(visit.redirect):
                target = Item(visit.redirect, item.depth, item.hops + 1, item.found_on)
                self._discover(step, target, first=True)
            else:
                reason = f"{visit.outcome.reason}, which is another site"
                visit = replace(visit, outcome=replace(visit.outcome, reason=reason))
        known = self._known.get(item.url) if visit.outcome.status == _NOT_MODIFIED else None
        links = known.links if known else visit.follow
        for url in (*links, *self._tools.feeds.listed(visit.feeds)):
            self._discover(step, Item(url, item.depth + 1, found_on=item.url))
        if visit.canonical:
            named = Item(visit.canonical, item.depth, found_on=item.url)
            canonical = self._frontier.same_as(named) or visit.canonical
            self._discover(step, replace(named, url=canonical), first=True)
            visit = replace(visit, canonical=canonical)
        return replace(step, visit=visit)

    def _discover(self, step: ExplainedStep, item: Item, *, first: bool = False) -> None:
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
                if self._frontier.waiting > self._options.share_from:
                    self._share_now()
        elif self._frontier.enter(item.url):
            step.objected.append(ended(item, *objection))
