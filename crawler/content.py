"""From a server's answer to the text of the page, in a browser when scripts produce the text."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.errors import BadStart, CrawlError, FetchError
from crawler.extractors import EXTRACTORS, Extraction, SourceDocument, content_type_of
from crawler.fetching.browser_requests import PageRequests, Permits, ScriptCache
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.reading import PageReader

if TYPE_CHECKING:
    from crawler.fetching.browser import Browsers

_HTML = frozenset({"text/html", "application/xhtml+xml"})


class Unsupported(CrawlError):
    """A content type without an extractor. The message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class ResponseReader:
    """Turns answers into pages. Safe to use from many threads."""

    _options: CrawlOptions
    _reader: PageReader
    _renderer: Renderer

    def read(self, reply: HttpResponse) -> Extraction:
        """Extract the page; the remark says too why it is less than a browser would show. Raises Unsupported,
        and BadFile for a page that its extractor cannot read."""
        source = self._source(reply)
        if source.content_type not in EXTRACTORS:
            kind = source.content_type or "unknown"
            raise Unsupported(f"its type is {kind}, not a web page")
        found = self._reader.read(source)
        if source.content_type not in _HTML or self._options.render == "never":
            return found
        if self._options.render == "auto" and not needs_rendering(reply.body, found.page):
            return found
        try:
            rendered = self._renderer.render(reply.url, reply)
        except FetchError as error:
            if error.kind == "stopped":
                raise
            return replace(found, remark=f"it needs a browser: {error}")
        return self._reader.read(replace(source, body=rendered, charset="utf-8"))

    def _source(self, reply: HttpResponse) -> SourceDocument:
        return SourceDocument(
            url=reply.url,
            body=reply.body,
            content_type=content_type_of(reply.url, reply.content_type, reply.body),
            charset=reply.charset,
            language=reply.headers.get("content-language", ""),
            etag=reply.headers.get("etag", ""),
            last_modified=reply.headers.get("last-modified", ""),
            limits=self._options.file_limits,
            hash_routes=self._options.hash_routes,
        )


def is_readable(reply: HttpResponse) -> bool:
    """Return whether the headers announce a readable type: only then is the body fetched."""
    return not reply.content_type or content_type_of(reply.url, reply.content_type) in EXTRACTORS


_PROGRAMS = (
    "chromium-headless-shell",  # the same engine without windows, a fraction of the work for each page
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
_SANDBOX = "run Docent as another user, or allow a browser without one with CRAWL_BROWSER_SANDBOX=0"
_INSTALL = 'install it with "pip install playwright" and a browser with "apt-get install chromium"'


class Renderer:
    """Opens pages in a browser, for sites whose text appears only after their scripts ran.

    Optional: needs Playwright and a Chromium, see `missing`. Safe to use from many threads; a call waits
    until one of `render_pages` is free.
    """

    def __init__(self, options: CrawlOptions, fetcher: Fetcher, permits: Permits = lambda url: True) -> None:
        """`permits` decides about each further request of a page, for example by robots.txt."""
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
        """What must be installed before pages can be rendered; empty when nothing is missing."""
        with self._lock:
            if self._missing is None:
                self._missing = self._what_is_missing()
            return self._missing

    def require(self) -> None:
        """Raises BadStart when something is missing."""
        if self.missing:
            raise BadStart(f"Pages cannot be opened in a browser: {self.missing}.")

    def render(self, url: str, reply: HttpResponse) -> bytes:
        """Return the page's HTML, UTF-8, after its scripts ran; `reply` is the server's answer for it.

        Raises FetchError: "browser" without a browser or when the page broke it, "too_slow" when its
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
        """End all browsers, including those at work; may be called twice."""
        with self._lock:
            self._closed = True
            browsers, self._browsers = self._browsers, None
        if browsers is not None:
            browsers.close()

    def _started(self) -> Browsers:
        from crawler.fetching.browser import Browsers  # imports Playwright, which may be missing

        return Browsers(self._options, self._program())

    def _program(self) -> str:
        """Return the browser to start; empty for Playwright's own."""
        names = (self._options.browser,) if self._options.browser else _PROGRAMS
        return next(filter(None, map(shutil.which, names)), "")

    def _what_is_missing(self) -> str:
        if importlib.util.find_spec("playwright") is None:
            return f"Playwright is missing; {_INSTALL}"
        program = self._program()
        if self._options.browser and not program:
            return f'there is no program "{self._options.browser}"; give the path of a Chromium'
        if self._options.browser_sandbox and os.geteuid() == 0:
            return f"Chromium has no sandbox as root; {_SANDBOX}"
        if program:
            return ""
        browsers = self._started()  # only Playwright knows whether it has one
        try:
            browsers.try_one()
        except FetchError:
            browsers.close()
            return 'there is no browser; install one with "apt-get install chromium"'
        self._browsers = browsers
        return ""


_LITTLE_TEXT = 500
"""Characters; the text around an empty application is shorter: a notice, a copyright line."""
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
# The element that React, Vue, Angular, Next, Nuxt, Gatsby, SvelteKit, Quasar or Ember fills.
_ROOT = re.compile(
    rb"""\bid\s*=\s*["']?(?:root|app|app-root|__next|__nuxt|__layout|___gatsby|svelte|react-root|q-app|main-app"""
    rb"""|ember-app|application)["'\s>]|<[a-z-]{1,40}-(?:app|root)[\s>]|\b(?:ng-app|ng-version|data-reactroot)\b""",
    re.IGNORECASE,
)
_MOST_NOTICES = 20


def needs_rendering(body: bytes, page: Page) -> bool:
    """Return whether the HTML `body`, from which `page` was read, is empty until its scripts have run."""
    if not _SCRIPT.search(body):
        return False
    characters = sum(len(block.text) for block in page.blocks)
    if characters == 0:
        return True
    return characters < _LITTLE_TEXT and bool(_ROOT.search(body) or _asks_for_scripts(body))


def _asks_for_scripts(body: bytes) -> bool:
    notices = body.lower().split(b"<noscript", _MOST_NOTICES)[1:]
    return any(b"javascript" in notice.partition(b"</noscript")[0][:2000] for notice in notices)
