"""What happens to one URL, from robots.txt to a page.

1. ask robots.txt; 2. wait for the turn; 3. fetch, again after a pause when the server asks for it;
4. judge status and type; 5. read the page; 6. judge what the page says of itself.

A step that ends the visit gives its outcome; the page limit, duplicates and links are the crawl's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crawler import urls
from crawler.errors import FetchError
from crawler.extractors import EXTRACTORS, Extraction, Source
from crawler.extractors.metadata import robots_words
from crawler.fetcher import Fetcher, Reply, Validators
from crawler.frontier import Item
from crawler.options import CrawlOptions
from crawler.pacer import Pacer, retry_after_s
from crawler.page import Page
from crawler.reading import PageReader, Unreadable
from crawler.report import UrlOutcome, UrlState
from crawler.robots import Robots

_OVERWORKED = frozenset({429, 503})
_TRANSIENT = frozenset({500, 502, 504})
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Visit:
    """An outcome, and where it leads."""

    outcome: UrlOutcome
    follow: tuple[str, ...] = ()
    redirect: str = ""
    """Canonical target; taken up at the same depth."""
    canonical: str = ""
    """The page says that it is a copy of this one."""


class Visits:
    """Visits URLs; safe to use from many threads."""

    def __init__(
        self,
        options: CrawlOptions,
        fetcher: Fetcher,
        robots: Robots,
        pacer: Pacer,
        reader: PageReader,
        known: Mapping[str, Validators],
    ) -> None:
        self._options = options
        self._fetcher = fetcher
        self._robots = robots
        self._pacer = pacer
        self._reader = reader
        self._known = known

    def visit(self, item: Item) -> Visit:
        """Never raises for anything that a site does."""
        verdict = self._robots.verdict(item.url)
        if not verdict.allowed:
            state = UrlState.ERROR if verdict.unreachable else UrlState.DISALLOWED
            return Visit(UrlOutcome(item.url, state, verdict.reason, depth=item.depth))
        try:
            reply = self._fetched(item.url)
        except FetchError as error:
            state = UrlState.TOO_LARGE if error.kind == "too_large" else UrlState.ERROR
            return Visit(UrlOutcome(item.url, state, str(error), depth=item.depth))
        if reply.status != 200:
            return self._without_page(item, reply)
        return self._with_body(item, reply)

    def _fetched(self, url: str) -> Reply:
        """The last answer when all tries were used up; raises FetchError."""
        tries = self._options.retries
        for attempt in range(tries + 1):
            if not self._pacer.wait():
                raise FetchError("stopped", "the crawl was stopped")
            pause = 0.5 * 2**attempt
            try:
                reply = self._fetcher.get(url, self._known.get(url), wanted=_is_readable)
            except FetchError as error:
                if not error.retry or attempt == tries:
                    raise
                self._pacer.slow_down(pause)
                continue
            if reply.status in _OVERWORKED:
                pause = retry_after_s(reply.headers.get("retry-after", ""), pause)
            elif reply.status not in _TRANSIENT:
                self._pacer.went_well()
                return reply
            if attempt == tries or pause > self._options.max_wait_s:
                return reply
            self._pacer.slow_down(pause)
        raise AssertionError("unreachable: the last try returns or raises")

    def _without_page(self, item: Item, reply: Reply) -> Visit:
        status = reply.status
        if status == 304:
            return _ended(item, UrlState.UNCHANGED, "not modified", status)
        if 300 <= status < 400:
            if not reply.location:
                return _ended(
                    item, UrlState.ERROR, f"redirect without a usable target (status {status})", status
                )
            return self._redirected(item, reply.location, status)
        if status in _GONE:
            return _ended(item, UrlState.GONE, f"the server says it is gone (status {status})", status)
        wait = reply.headers.get("retry-after", "")
        asked = f", asks to come back after {wait}" if wait and status in _OVERWORKED else ""
        return _ended(item, UrlState.ERROR, f"status {status}{asked}", status)

    def _redirected(self, item: Item, target: str, status: int) -> Visit:
        if target == item.url:
            return _ended(item, UrlState.ERROR, "redirects to itself", status)
        if item.hops >= self._options.max_redirects:
            return _ended(item, UrlState.ERROR, f"more than {item.hops} redirects in a row", status)
        outcome = UrlOutcome(item.url, UrlState.REDIRECTED, f"to {target}", status, depth=item.depth)
        return Visit(outcome, redirect=target)

    def _with_body(self, item: Item, reply: Reply) -> Visit:
        source = _source(reply)
        if source.content_type not in EXTRACTORS:
            kind = source.content_type or "unknown"
            return _ended(item, UrlState.NOT_HTML, f"its type is {kind}, not a web page", reply.status)
        try:
            found = self._reader.read(source)
        except Unreadable as error:
            return _ended(item, UrlState.ERROR, str(error), reply.status)
        if found.refresh and found.refresh != item.url and len(found.page.text) < 500:
            return self._redirected(item, found.refresh, reply.status)
        return self._judged(item, reply, found)

    def _judged(self, item: Item, reply: Reply, found: Extraction) -> Visit:
        header = _robots_header(reply.headers.get("x-robots-tag", ""), self._options.robots_token)
        follow = () if found.nofollow or "nofollow" in header else found.follow
        if found.noindex or "noindex" in header:
            where = "its markup" if found.noindex else "its X-Robots-Tag"
            return _ended(item, UrlState.NOINDEX, f"{where} says noindex", reply.status, follow=follow)
        if not found.page.blocks:
            return _ended(item, UrlState.EMPTY, "no text on the page", reply.status, follow=follow)
        known = self._known.get(item.url)
        if known and known.content_hash == found.page.content_hash:
            return _ended(item, UrlState.UNCHANGED, "same content", reply.status, found.page, follow)
        visit = _ended(item, UrlState.FETCHED, "", reply.status, found.page, follow)
        canonical = found.canonical if _believable(found.canonical, item.url) else ""
        return Visit(visit.outcome, follow, canonical=canonical)


def _ended(
    item: Item,
    state: UrlState,
    reason: str,
    status: int,
    page: Page | None = None,
    follow: tuple[str, ...] = (),
) -> Visit:
    return Visit(UrlOutcome(item.url, state, reason, status, page, item.depth), follow)


def _is_readable(reply: Reply) -> bool:
    return not reply.content_type or reply.content_type in EXTRACTORS


def _source(reply: Reply) -> Source:
    content_type = reply.content_type
    if not content_type and reply.body.lstrip()[:1] == b"<":
        content_type = "text/html"
    return Source(
        url=reply.url,
        body=reply.body,
        content_type=content_type,
        charset=reply.charset,
        language=reply.headers.get("content-language", ""),
        etag=reply.headers.get("etag", ""),
        last_modified=reply.headers.get("last-modified", ""),
    )


def _robots_header(value: str, token: str) -> frozenset[str]:
    """Words of X-Robots-Tag that are meant for us: "otherbot: noindex" is not."""
    words: set[str] = set()
    addressee = ""
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip().lower() not in ("unavailable_after", "max-snippet", "max-image-preview"):
            addressee, part = name.strip().lower(), rest
        if addressee in ("", token.lower()):
            words |= robots_words(part)
    return frozenset(words)


def _believable(canonical: str, url: str) -> bool:
    """Broken templates declare every page a copy of the home page: that would lose the site."""
    if not canonical or canonical == url or urls.site_key(canonical) != urls.site_key(url):
        return False
    return urls.path_and_query(canonical) != "/" or urls.without_index(url) == canonical or "?" in url
