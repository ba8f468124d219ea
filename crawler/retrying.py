"""One request at the host's pace, and again after a pause when the host asks for it."""

from __future__ import annotations

from crawler.errors import FetchError
from crawler.fetcher import Fetcher, Reply, Validators, Wanted
from crawler.options import CrawlOptions
from crawler.pacer import Pacer, retry_after_s

OVERWORKED = frozenset({429, 503})
_TRANSIENT = frozenset({500, 502, 504})


class RetryingFetcher:
    """Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher, pacer: Pacer) -> None:
        self._options = options
        self._fetcher = fetcher
        self._pacer = pacer

    def get(self, url: str, validators: Validators | None = None, *, wanted: Wanted | None = None) -> Reply:
        """The last answer when all tries were used up; raises FetchError."""
        tries = self._options.retries
        for attempt in range(tries + 1):
            pause = 0.5 * 2**attempt
            try:
                reply = self._asked(url, validators, wanted)
            except FetchError as error:
                if error.retry:
                    self._pacer.slow_down(pause, url)
                if not error.retry or attempt == tries:
                    raise
                continue
            if reply.status in OVERWORKED:
                pause = retry_after_s(reply.headers.get("retry-after", ""), pause)
            elif reply.status not in _TRANSIENT:
                self._pacer.went_well(url)
                return reply
            too_long = pause > self._options.max_wait_s
            self._pacer.slow_down(0.0 if too_long else pause, url)
            if attempt == tries or too_long:
                return reply
        raise AssertionError("unreachable: the last try returns or raises")

    def _asked(self, url: str, validators: Validators | None, wanted: Wanted | None) -> Reply:
        with self._pacer.slot(url) as may_ask:
            if not may_ask:
                raise FetchError("stopped", "the crawl was stopped")
            return self._fetcher.get(url, validators, wanted=wanted)
