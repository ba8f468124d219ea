"""A process that visits URLs of a crawl which another process carries out.

It takes a few URLs at a time under a lease, and brings back what it read of each. What a page leads to, which
pages are copies, and when the crawl is over is decided by the other process alone (explorer.py).
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from crawler.discovery.frontier import Item
from crawler.fetching.fetcher import Validators
from crawler.fetching.pacer import HostTurns
from crawler.options import CrawlOptions
from crawler.visit import CrawlTools, visit_to_text

_LOOK_S = 0.5
_IDLE_S = 5.0
_GOODBYE_S = 3.0
_RENEW_S = 5.0


class LeasedUrls(Protocol):
    """The part of a shared frontier that a helper sees. Each call is atomic."""

    def lease(self, most: int) -> list[tuple[Item, Validators]]:
        """Return URLs for this process alone, with what is known of their pages; none to wait for more."""

    def renew(self) -> None:
        """Keep the URLs that this process has."""

    def release(self) -> None:
        """Give back the URLs that this process has not visited."""

    def bring(self, item: Item, visit: str) -> None:
        """Hand in a visit, unless the lease was lost meanwhile."""

    def processes(self) -> int:
        """Return how many processes visit URLs of the crawl, this one included."""


def help_crawl(options: CrawlOptions, leased: LeasedUrls, stop: threading.Event, turns: HostTurns) -> int:
    """Visit URLs until there was none for a few seconds, or `stop` is set; return how many were visited."""
    helper = _Helper(options, leased, turns)
    threads = [
        threading.Thread(target=helper.work, name=f"crawl-help-{number}", daemon=True)
        for number in range(options.concurrency)
    ]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) and not stop.wait(_RENEW_S):
            leased.renew()
    finally:
        helper.tools.close()
        deadline = time.monotonic() + _GOODBYE_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        leased.release()
    if helper.failure is not None:
        raise helper.failure
    return helper.visited


class _Helper:
    def __init__(self, options: CrawlOptions, leased: LeasedUrls, turns: HostTurns) -> None:
        self._leased = leased
        self._batch = 2 * options.concurrency
        self._known: dict[str, Validators] = {}
        self.tools = CrawlTools(options, self._known, turns)
        self._queue: deque[Item] = deque()
        self._lock = threading.Lock()
        self._had_some = time.monotonic()
        self.visited = 0
        self.failure: BaseException | None = None

    def work(self) -> None:
        """Visit URLs in this thread."""
        try:
            while (item := self._next()) is not None:
                visit = self.tools.visit(item)
                self._known.pop(item.url, None)
                if self.tools.stopped.is_set():
                    return
                self._leased.bring(item, visit_to_text(visit, with_links=True))
                with self._lock:
                    self.visited += 1
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked for help
            self.failure = error
            self.tools.close()

    def _next(self) -> Item | None:
        while not self.tools.stopped.is_set():
            with self._lock:
                if not self._queue:
                    self._fill(self._leased.lease(self._batch))
                if self._queue:
                    return self._queue.popleft()
                if time.monotonic() - self._had_some > _IDLE_S:
                    return None
            self.tools.stopped.wait(_LOOK_S)
        return None

    def _fill(self, leased: Sequence[tuple[Item, Validators]]) -> None:
        if leased:
            self._had_some = time.monotonic()
            self.tools.pacer.shared_by(self._leased.processes())
        for item, validators in leased:
            self._known[item.url] = validators
            self._queue.append(item)
