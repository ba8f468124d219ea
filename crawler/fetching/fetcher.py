"""One safe request: a checked address, limits of time and size, an answer or a FetchError.

The only module that knows requests. Redirects are never followed by the library: the crawl treats
the target as an address of its own, and `get_following` (robots.txt, sitemaps) goes hop by hop, so
that each hop's address is checked and no header meant for one host reaches another.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.response import HTTPResponse

from crawler.discovery import urls
from crawler.errors import FetchError
from crawler.fetching.addresses import AddressGuard
from crawler.fetching.connections import Deadlines, guarded_pools
from crawler.options import CrawlOptions, header_origins

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 65_536
_ENCODINGS = frozenset({"", "identity", *HTTPResponse.CONTENT_DECODERS})
"""Requests ask for gzip and deflate; other encodings are unpacked if the library can."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What the last crawl knew about a page; lets the server answer "not modified"."""

    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    fingerprint: int = 0
    """Finds nearly equal pages; 0 when unknown."""
    links: tuple[str, ...] = ()
    """Addresses to visit if the page has not changed, because it is not read for its links then."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The answer of a server."""

    url: str
    status: int
    headers: dict[str, str]
    """Names in lower case; values of repeated ones joined with ", "."""
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.partition("=")
            if name.strip().lower() == "charset":
                return value.strip(" \"'")
        return ""

    @property
    def location(self) -> str:
        """Canonical target of a redirect; empty when there is no usable one."""
        target = self.headers.get("location", "") if self.status in _REDIRECTS else ""
        return (urls.canonical(_as_utf8(target), self.url) or "") if target else ""


def _as_utf8(header: str) -> str:
    """Return a header as its author meant it: headers are read as Latin-1, and letters are sent as UTF-8."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


Wanted = Callable[[HttpResponse], bool]


class Fetcher:
    """Fetches single addresses. Safe to use from many threads; each has connections of its own."""

    def __init__(self, options: CrawlOptions, guard: AddressGuard | None = None) -> None:
        self._options = options
        own = {(urlsplit(url).hostname or "").removeprefix("www.") for url in options.start_urls}
        self._guard = (guard or options.guard).only_for(own)
        self._deadlines = Deadlines()
        self._secrets = {origin: dict(options.headers) for origin in header_origins(options.start_urls)}
        self._local = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()

    def get(
        self,
        url: str,
        validators: Validators | None = None,
        *,
        wanted: Wanted | None = None,
        max_bytes: int = 0,
        headers: Mapping[str, str] | None = None,
        time_s: float = 0.0,
    ) -> HttpResponse:
        """Return one answer, with its body when the status is 200 and `wanted` accepts the headers.

        `time_s` limits everything together: resolving, connecting, headers and body. Raises FetchError, with
        kind "too_large" when more than the limit arrives.
        """
        sent = {**(headers or {}), **_conditions(validators), **self._secrets.get(urls.origin(url), {})}
        session = self._session()
        session.cookies.clear()
        with self._deadlines.within(time_s or self._options.page_time_s) as due:
            try:
                with session.get(
                    url,
                    headers=sent,
                    auth=self._options.signer,
                    stream=True,
                    allow_redirects=False,
                    timeout=(self._options.timeout_s, self._options.timeout_s),
                ) as response:
                    return self._read(url, response, wanted, max_bytes or self._options.max_bytes, due)
            except (requests.RequestException, HTTPError, OSError, ValueError) as error:
                raise self._translated(url, error, due) from error

    def get_following(self, url: str, *, max_bytes: int = 0) -> HttpResponse:
        """Fetch like `get`, and follow redirects; return the last answer when there are too many."""
        reply = self.get(url, max_bytes=max_bytes)
        for _ in range(5):
            if not reply.location:
                return reply
            reply = self.get(reply.location, max_bytes=max_bytes)
        return reply

    def close(self) -> None:
        """End all requests, including those under way."""
        self._deadlines.close()
        with self._lock:
            for session in self._sessions:
                session.close()
            self._sessions.clear()

    def _read(
        self, url: str, response: requests.Response, wanted: Wanted | None, limit: int, due: float
    ) -> HttpResponse:
        headers = {name.lower(): value for name, value in response.headers.items()}
        reply = HttpResponse(url, response.status_code, headers, b"")
        if reply.status != 200:
            _drain(response)
            return reply
        if wanted is not None and not wanted(reply):
            return reply
        for encoding in headers.get("content-encoding", "").lower().split(","):
            if encoding.strip() not in _ENCODINGS:
                raise FetchError(
                    "protocol", f'it is compressed as "{encoding.strip()}", which is not understood'
                )
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise FetchError("too_large", f"{int(declared):,} bytes, the limit is {limit:,}")
        pieces, size = [], 0
        # read1 returns after one receive, so the limits are looked at however slowly bytes come.
        while piece := response.raw.read1(_PIECE, decode_content=True):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise FetchError("too_large", f"more than {limit:,} bytes", received=b"".join(pieces))
            if time.monotonic() >= due:
                raise self._too_slow()
        if time.monotonic() >= due:  # the watcher's cut looks like the end of the answer
            raise self._too_slow()
        return HttpResponse(url, response.status_code, headers, b"".join(pieces))

    def _too_slow(self) -> FetchError:
        return FetchError("too_slow", f"not finished after {self._options.page_time_s:g} s")

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = self._new_session()
            with self._lock:
                self._sessions.append(session)
        if self._deadlines.closed:  # sessions are closed once
            raise FetchError("stopped", "the crawl was stopped")
        return session

    def _new_session(self) -> requests.Session:
        session = _Session()
        session.trust_env = False  # a proxy or .netrc would decide where connections go
        session.headers.update(
            {
                "User-Agent": self._options.user_agent_header,
                "Accept": "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1",
                "Accept-Encoding": "gzip, deflate",
            }
        )
        adapter = _GuardedAdapter(self._guard, self._deadlines)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        return session

    def _translated(self, url: str, error: Exception, due: float) -> FetchError:
        if isinstance(error, FetchError):
            return error
        if self._deadlines.closed:
            return FetchError("stopped", "the crawl was stopped")
        if time.monotonic() >= due:
            return self._too_slow()
        host = urls.site_key(url)
        cause = _root_cause(error)
        if isinstance(error, requests.exceptions.SSLError):
            return FetchError("tls", f"{host} has no valid certificate ({cause})")
        if isinstance(error, requests.exceptions.Timeout) or isinstance(cause, TimeoutError):
            return FetchError(
                "timeout", f"{host} did not answer within {self._options.timeout_s:g} s", retry=True
            )
        if isinstance(cause, ConnectionRefusedError):
            return FetchError("unreachable", f"nothing answers at {host} (connection refused)", retry=True)
        if isinstance(cause, ConnectionError | IncompleteRead):
            return FetchError("protocol", f"{host} broke off its answer ({cause})", retry=True)
        if isinstance(cause, NewConnectionError | OSError):
            return FetchError("unreachable", f"{host} cannot be reached ({cause})", retry=True)
        return FetchError("protocol", f"{host} answered something that is not HTTP ({cause})")


class _Session(requests.Session):
    def get_redirect_target(self, response: requests.Response) -> None:
        """Keep the library from reading targets: it refuses those that are not UTF-8."""
        return


class _GuardedAdapter(HTTPAdapter):
    def __init__(self, guard: AddressGuard, deadlines: Deadlines) -> None:
        self._guard = guard
        self._deadlines = deadlines
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        self.poolmanager = guarded_pools(
            self._guard, self._deadlines, num_pools=connections, maxsize=maxsize, block=block, **kwargs
        )


def _drain(response: requests.Response) -> None:
    """Read a short body to its end, so that the connection can be used again."""
    left = _PIECE
    with suppress(HTTPError, HTTPException, OSError, ValueError):
        while left > 0 and (piece := response.raw.read1(_PIECE, decode_content=False)):
            left -= len(piece)


def _conditions(validators: Validators | None) -> dict[str, str]:
    headers = {}
    if validators and validators.etag:
        headers["If-None-Match"] = validators.etag
    if validators and validators.last_modified:
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def _root_cause(error: BaseException) -> BaseException:
    """Return the innermost error, which the operator can understand."""
    seen = 0
    while seen < 10:
        inner = error.__cause__ or error.__context__ or getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            return error
        error, seen = inner, seen + 1
    return error
