"""Pages as a browser shows them, for sites whose text only their scripts bring.

Optional: needs Playwright and a Chromium, see `missing`.
"""

from __future__ import annotations

import importlib.util
import shutil
import threading
from typing import TYPE_CHECKING

from crawler.browser_requests import PageRequests, Permits, ScriptCache
from crawler.errors import BadStart, FetchError
from crawler.fetcher import Fetcher, Reply
from crawler.options import CrawlOptions

if TYPE_CHECKING:
    from crawler.browsers import Browsers

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL = 'install it with "pip install playwright" and a browser with "apt-get install chromium"'


class Renderer:
    """Safe to use from many threads; a call waits until one of `render_pages` is free."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher, permits: Permits = lambda url: True) -> None:
        """`permits` is asked about each request that a page makes beyond itself, such as by robots.txt."""
        self._options = options
        self._fetcher = fetcher
        self._permits = permits
        self._scripts = ScriptCache()
        self._lock = threading.Lock()
        self._closed = False
        self._browsers: Browsers | None = None
        self._missing: str | None = None

    @property
    def missing(self) -> str:
        """What must be installed before pages can be rendered, in words; empty when nothing is missing."""
        with self._lock:
            if self._missing is None:
                self._missing = self._what_is_missing()
            return self._missing

    def require(self) -> None:
        """Raises BadStart when something is missing."""
        if self.missing:
            raise BadStart(f"Pages cannot be opened in a browser: {self.missing}.")

    def render(self, url: str, reply: Reply) -> bytes:
        """The page's HTML, UTF-8, after its scripts ran; `reply` is what the server answered for it.

        Raises FetchError: "browser" when there is none or the page broke it, "too_slow" when its
        scripts do not end, "too_large", "stopped".
        """
        if self.missing:
            raise FetchError("browser", self.missing)
        with self._lock:
            if self._closed:
                raise FetchError("stopped", "the crawl was stopped")
            browsers = self._browsers = self._browsers or self._started()
        requests = PageRequests(reply, self._options, self._fetcher, self._permits, self._scripts)
        return browsers.render(url, requests)

    def close(self) -> None:
        """Ends all browsers, also those at work; may be called twice."""
        with self._lock:
            self._closed = True
            browsers, self._browsers = self._browsers, None
        if browsers is not None:
            browsers.close()

    def _started(self) -> Browsers:
        from crawler.browsers import Browsers  # imports Playwright, which may be missing

        return Browsers(self._options, self._program())

    def _program(self) -> str:
        """The browser to start; empty for Playwright's own."""
        names = (self._options.browser,) if self._options.browser else _PROGRAMS
        return next(filter(None, map(shutil.which, names)), "")

    def _what_is_missing(self) -> str:
        if importlib.util.find_spec("playwright") is None:
            return f"Playwright is missing; {_INSTALL}"
        if self._program():
            return ""
        if self._options.browser:
            return f'there is no program "{self._options.browser}"; give the path of a Chromium'
        browsers = self._started()  # only Playwright knows whether it has one
        try:
            browsers.try_one()
        except FetchError:
            browsers.close()
            return 'there is no browser; install one with "apt-get install chromium"'
        self._browsers = browsers
        return ""
