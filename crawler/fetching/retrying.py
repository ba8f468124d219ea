"""One request at the host's pace, repeated where that may help.

What a failure means for the pace: 429 and 503 slow the host and honour Retry-After; no answer in time (a
time-out, a refused connection, 502, 504) slows it when several addresses are silent; every other fault is
that address's alone, which then waits a moment by itself.
"""

from crawler.errors import FetchError
from crawler.fetching.fetcher import Fetcher, HttpResponse, Validators, Wanted
from crawler.fetching.pacer import Pacer, retry_after_s
from crawler.options import CrawlOptions

OVERLOADED = frozenset({429, 503})
_NO_ANSWER_BEHIND = frozenset({502, 504})
_SILENCE = frozenset({"timeout", "unreachable"})
_FIRST_PAUSE_S = 0.5


class RetryingFetcher:
    """Fetches at the pace of the host. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher, pacer: Pacer) -> None:
        self._options = options
        self._fetcher = fetcher
        self._pacer = pacer

    def get(
        self, url: str, validators: Validators | None = None, *, wanted: Wanted | None = None
    ) -> HttpResponse:
        """Return the first good answer, or the last one after all tries. Raises FetchError."""
        tries = self._options.retries
        for attempt in range(tries + 1):
            is_last = attempt == tries
            pause = _FIRST_PAUSE_S * 2**attempt
            try:
                reply = self._asked(url, validators, wanted)
            except FetchError as error:
                if error.kind in _SILENCE:
                    self._pacer.not_answered(url, pause)
                if is_last or not error.retry:
                    raise
                self._pacer.rest(pause)
                continue
            if reply.status in OVERLOADED:
                asked = retry_after_s(reply.headers.get("retry-after", ""), pause)
                too_long = asked > self._options.max_wait_s
                self._pacer.overloaded(url, 0.0 if too_long else asked)
                if is_last or too_long:
                    return reply
                continue
            if reply.status in _NO_ANSWER_BEHIND:
                self._pacer.not_answered(url, pause)
            elif reply.status != 500:
                self._pacer.went_well(url)
                return reply
            if is_last:
                return reply
            self._pacer.rest(pause)
        raise AssertionError("unreachable: the last try returns or raises")

    def _asked(self, url: str, validators: Validators | None, wanted: Wanted | None) -> HttpResponse:
        with self._pacer.slot(url) as may_ask:
            if not may_ask:
                raise FetchError("stopped", "the crawl was stopped")
            return self._fetcher.get(url, validators, wanted=wanted)
