"""Everything that visits of one crawl share."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from crawler.addresses import AddressGuard
from crawler.content import ContentReader
from crawler.feeds import Feeds
from crawler.fetcher import Fetcher, Validators
from crawler.options import CrawlOptions
from crawler.pacer import Pacer
from crawler.reading import PageReader
from crawler.renderer import Renderer
from crawler.retrying import RetryingFetcher
from crawler.robots import Robots
from crawler.visit import Visits


class Toolbox:
    """Made once for a crawl, or for explaining one URL."""

    def __init__(self, options: CrawlOptions, guard: AddressGuard, known: Mapping[str, Validators]) -> None:
        self.stopped = threading.Event()
        self._renders_all = options.render == "always"
        self.fetcher = Fetcher(options, guard)
        self.robots = Robots(options, self.fetcher)
        self.pacer = Pacer(options.delay_s, self.stopped, options.host_concurrency)
        self.feeds = Feeds(options, self.robots, self.fetcher, self.pacer.wait)
        self._reader = PageReader(options.processes)
        self._renderer = Renderer(options, self.fetcher, lambda url: self.robots.verdict(url).allowed)
        retrying = RetryingFetcher(options, self.fetcher, self.pacer)
        content = ContentReader(options, self._reader, self._renderer)
        self.visits = Visits(options, retrying, self.robots, content, known)

    def require(self) -> None:
        """Raises BadStart when every page is to be opened in a browser and there is none."""
        if self._renders_all:
            self._renderer.require()

    def close(self) -> None:
        """Cuts off what is under way; may be called twice."""
        self.stopped.set()
        self.fetcher.close()
        self._renderer.close()
        self._reader.close()
