"""Answers the requests that a page makes in the browser, which has no connection of its own.

What a page needs for its text is fetched by the crawler's own Fetcher, with the same checks, limits and
name as everything else: scripts, what scripts ask for by GET, and documents of the same origin that
scripts lead to. Pictures and styles are answered with empty ones, so that scripts that wait for them go
on. Everything else is refused.
"""

import threading
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crawler.discovery import urls
from crawler.errors import FetchError
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.options import CrawlOptions
from crawler.wordset import wordset

Permits = Callable[[str], bool]

_FETCHED = frozenset({"script", "xhr", "fetch"})
_DOCUMENTS = frozenset({"text/html", "application/xhtml+xml"})
_KEPT_SCRIPTS = 32 * 1024 * 1024
_DOT = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_NOT_PASSED_ON = wordset("browser_requests.not_passed_on")
_NOT_SENT = wordset("browser_requests.not_sent")


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    """A request that the browser makes."""

    url: str
    method: str
    kind: str
    """As the browser calls it: document, script, xhr, fetch, image..."""
    headers: Mapping[str, str]
    is_page: bool = False
    """Whether its answer becomes the page itself, not one of its frames."""


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """What the browser gets."""

    status: int
    headers: dict[str, str]
    body: bytes


class ScriptCache:
    """Scripts that the pages of a site share, up to a total size; drops the least recently used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, BrowserAnswer] = OrderedDict()
        self._size = 0

    def get(self, url: str) -> BrowserAnswer | None:
        """Return the script of that address, if it is stored."""
        with self._lock:
            if url in self._kept:
                self._kept.move_to_end(url)
            return self._kept.get(url)

    def put(self, url: str, answer: BrowserAnswer) -> None:
        """Store a script."""
        with self._lock:
            if url in self._kept:
                return
            self._kept[url] = answer
            self._size += len(answer.body)
            while self._size > _KEPT_SCRIPTS:
                self._size -= len(self._kept.popitem(last=False)[1].body)


@dataclass(eq=False)
class PageRequests:
    """Answers the requests of one page. `answer` may be called from many threads."""

    _reply: HttpResponse
    _options: CrawlOptions
    _fetcher: Fetcher
    _permits: Permits
    _scripts: ScriptCache

    def __post_init__(self) -> None:
        self._origin = urls.origin(self._reply.url)
        self._due = time.monotonic() + self._options.render_time_s
        self._lock = threading.Lock()
        self._opened = False
        self._requests = 0
        self._bytes = 0

    def answer(self, asked: BrowserRequest) -> BrowserAnswer | None:
        """Return the answer for the browser; None refuses the request."""
        if asked.method not in ("GET", "HEAD") or not asked.url.startswith(("http://", "https://")):
            return None
        if asked.kind == "stylesheet":
            return BrowserAnswer(200, {"content-type": "text/css", "access-control-allow-origin": "*"}, b"")
        if asked.kind == "image":
            return BrowserAnswer(200, {"content-type": "image/gif", "access-control-allow-origin": "*"}, _DOT)
        if asked.kind == "document":
            return self._document(asked) if asked.is_page else None
        return self._resource(asked) if asked.kind in _FETCHED else None

    def _document(self, asked: BrowserRequest) -> BrowserAnswer | None:
        with self._lock:
            first, self._opened = not self._opened, True
        if first:
            return _answer(self._reply)
        if urls.origin(asked.url) != self._origin:
            return None
        reply = self._fetched(asked.url, asked)
        if reply is None:
            return None
        if reply.location:
            # The browser would follow a redirect by itself; this way it asks for the target here.
            return BrowserAnswer(
                200, {"content-type": "text/html", "refresh": f"0; url={reply.location}"}, b""
            )
        return _answer(reply) if reply.status == 200 and reply.content_type in _DOCUMENTS else None

    def _resource(self, asked: BrowserRequest) -> BrowserAnswer | None:
        url = asked.url.partition("#")[0]
        kept = self._scripts.get(url) if asked.kind == "script" else None
        if kept is not None:
            return kept
        reply = self._fetched(url, asked)
        for _ in range(self._options.max_redirects):
            if reply is None or not reply.location:
                break
            reply = self._fetched(reply.location, asked)
        if reply is None or 300 <= reply.status < 400:
            return None
        answer = _answer(reply)
        if asked.kind == "script" and reply.status == 200:
            self._scripts.put(url, answer)
        return answer

    def _fetched(self, url: str, asked: BrowserRequest) -> HttpResponse | None:
        """Fetch one hop; None when it is forbidden or fails."""
        with self._lock:
            self._requests += 1
            if self._requests > self._options.render_max_requests:
                return None
            left = self._options.render_max_bytes - self._bytes
        time_left = self._due - time.monotonic()
        if left <= 0 or time_left <= 0 or not self._permits(urls.canonical(url) or url):
            return None
        try:
            reply = self._fetcher.get(
                url,
                max_bytes=min(self._options.max_bytes, left),
                headers=self._headers(url, asked),
                time_s=min(self._options.page_time_s, time_left),
            )
        except FetchError:
            return None  # the page's scripts see a failed request, as they would in any browser
        with self._lock:
            self._bytes += len(reply.body)
        return reply

    def _headers(self, url: str, asked: BrowserRequest) -> dict[str, str]:
        """Return the headers set by the page's scripts; a redirect to another origin gets none of them."""
        sent = {}
        if urls.origin(url) == urls.origin(asked.url):
            for name, value in asked.headers.items():
                low = name.lower()
                if low not in _NOT_SENT and not low.startswith((":", "sec-", "proxy-", "if-")):
                    sent[name] = value
        if asked.kind in ("xhr", "fetch") and urls.origin(url) != self._origin:
            sent["Origin"] = self._origin
        return sent


def _answer(reply: HttpResponse) -> BrowserAnswer:
    headers = {name: value for name, value in reply.headers.items() if name not in _NOT_PASSED_ON}
    return BrowserAnswer(reply.status, headers, reply.body)
