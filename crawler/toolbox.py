"""Everything that visits of one crawl share."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from crawler.addresses import AddressGuard
from crawler.fetcher import Fetcher, Validators
from crawler.options import CrawlOptions
from crawler.pacer import Pacer
from crawler.reading import PageReader
from crawler.retrying import RetryingFetcher
from crawler.robots import Robots
from crawler.visit import Visits


class Toolbox:
    """Made once for a crawl, or for explaining one URL."""

    def __init__(self, options: CrawlOptions, guard: AddressGuard, known: Mapping[str, Validators]) -> None:
        self.stopped = threading.Event()
        self.fetcher = Fetcher(options, guard)
        self.robots = Robots(options, self.fetcher)
        self.pacer = Pacer(options.delay_s, self.stopped)
        self._reader = PageReader(options.processes)
        retrying = RetryingFetcher(options, self.fetcher, self.pacer)
        self.visits = Visits(options, retrying, self.robots, self._reader, known)

    def close(self) -> None:
        """Cuts off what is under way; may be called twice."""
        self.stopped.set()
        self.fetcher.close()
        self._reader.close()
