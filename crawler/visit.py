"""The visit of one URL, from robots.txt to the extracted page.

1. ask robots.txt, also for AI preferences; 2. wait for the turn and fetch (fetching/pacer.py); 3. judge
status and type; 4. read the page; 5. judge what the page and its headers say of themselves.

A step that ends the visit gives its outcome. Decisions that need a comparison of pages (copies, recurring
text, the page limit) follow later (judging/judge.py).
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from crawler.content import Renderer, ResponseReader, Unsupported, is_readable
from crawler.discovery import urls
from crawler.discovery.frontier import Item
from crawler.discovery.sitemap import Feeds
from crawler.errors import BadFile, FetchError
from crawler.extractors import Extraction
from crawler.extractors.html.metadata import robots_words
from crawler.fetching import preferences
from crawler.fetching.fetcher import Fetcher, HttpResponse, Validators
from crawler.fetching.pacer import OVERLOADED, HostTurns, Pacer, RetryingFetcher
from crawler.fetching.robots import Robots
from crawler.judging.soft_404 import Soft404
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.reading import PageReader
from crawler.report import UrlOutcome, UrlState

_GONE = frozenset({404, 410})
_SHORT_PAGE = 500
"""A page with more characters than this has content of its own besides its meta refresh."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The result of one visit, and where it leads."""

    item: Item
    outcome: UrlOutcome
    """Final, unless it has a page."""
    follow: tuple[str, ...] = ()
    redirect: str = ""
    """Canonical target; it is visited at the same depth."""
    canonical: str = ""
    """The page says that it is a copy of this one."""
    feeds: tuple[str, ...] = ()


@dataclass(eq=False)
class Visits:
    """Visits URLs. Safe to use from many threads."""

    _options: CrawlOptions
    _fetcher: RetryingFetcher
    _robots: Robots
    _content: ResponseReader
    _known: Mapping[str, Validators]

    def __post_init__(self) -> None:
        self._soft_404 = Soft404(self._options, self._probe)
        self._obeys_preferences = self._options.obey_robots and not self._options.own_site

    def visit(self, item: Item) -> Visit:
        """Visit one URL. Never raises for anything that a site does."""
        verdict = self._robots.verdict(item.url)
        if not verdict.allowed:
            state = UrlState.ERROR if verdict.unreachable else UrlState.DISALLOWED
            return ended(item, state, verdict.reason)
        refusal = self._robots.refusing_preference(item.url)
        if refusal and self._obeys_preferences:
            return ended(item, UrlState.DISALLOWED, refusal)
        try:
            reply = self._fetcher.get(item.url, self._known.get(item.url), wanted=is_readable)
        except FetchError as error:
            state = UrlState.TOO_LARGE if error.kind == "too_large" else UrlState.ERROR
            return ended(item, state, str(error))
        if reply.status != 200:
            return self._without_page(item, reply)
        return self._with_body(item, reply)

    def _probe(self, url: str) -> Extraction | None:
        """Fetch a made-up address, or the start page to compare it with."""
        if not self._robots.verdict(url).allowed:
            return None
        try:
            reply = self._fetcher.get(url, wanted=is_readable)
            return self._content.read(reply) if reply.status == 200 else None
        except (FetchError, Unsupported, BadFile):
            return None

    def _without_page(self, item: Item, reply: HttpResponse) -> Visit:
        status = reply.status
        if status == 304:
            refusal = preferences.refusing_header(reply.headers)
            if refusal and self._obeys_preferences:
                return ended(item, UrlState.DISALLOWED, refusal, status)
            return ended(item, UrlState.UNCHANGED, "not modified", status)
        if 300 <= status < 400:
            if not reply.location:
                return ended(
                    item, UrlState.ERROR, f"redirect without a usable target (status {status})", status
                )
            return self._redirected(item, reply.location, status)
        if status in _GONE:
            return ended(item, UrlState.GONE, f"the server says it is gone (status {status})", status)
        wait = reply.headers.get("retry-after", "")
        asked = f", asks to come back after {wait}" if wait and status in OVERLOADED else ""
        return ended(item, UrlState.ERROR, f"status {status}{asked}", status)

    def _redirected(self, item: Item, target: str, status: int) -> Visit:
        if target == item.url:
            return ended(item, UrlState.ERROR, "redirects to itself", status)
        if item.hops >= self._options.max_redirects:
            return ended(item, UrlState.ERROR, f"more than {item.hops} redirects in a row", status)
        visit = ended(item, UrlState.REDIRECTED, f"to {target}", status)
        return replace(visit, outcome=replace(visit.outcome, target=target), redirect=target)

    def _with_body(self, item: Item, reply: HttpResponse) -> Visit:
        try:
            found = self._content.read(reply)
        except Unsupported as error:
            return ended(item, UrlState.UNSUPPORTED, str(error), reply.status)
        except (BadFile, FetchError) as error:
            return ended(item, UrlState.ERROR, str(error), reply.status)
        if found.refresh and found.refresh != item.url and len(found.page.text) < _SHORT_PAGE:
            return self._redirected(item, found.refresh, reply.status)
        return self._judged(item, reply, found)

    def _judged(self, item: Item, reply: HttpResponse, found: Extraction) -> Visit:
        header = robots_header(reply.headers.get("x-robots-tag", ""), self._options.robots_token)
        nofollow = found.nofollow or "nofollow" in header
        follow = () if nofollow else found.follow
        if found.noindex or "noindex" in header:
            where = "its markup" if found.noindex else "its X-Robots-Tag"
            return ended(item, UrlState.NOINDEX, f"{where} says noindex", reply.status, follow=follow)
        refusal = self._robots.refusing_preference(item.url) or preferences.refusing_header(reply.headers)
        if refusal and self._obeys_preferences:
            return ended(item, UrlState.DISALLOWED, refusal, reply.status, follow=follow)
        if not found.page.blocks:
            reason = found.remark or "no text on the page"
            return ended(item, UrlState.EMPTY, reason, reply.status, follow=follow)
        not_there = self._soft_404.reason(item.url, found.page, reply.status)
        if not_there:
            return ended(item, UrlState.GONE, not_there, reply.status, follow=follow)
        remark = found.remark or (refusal and f"AI preferences not applied: {refusal}")
        visit = ended(item, UrlState.FETCHED, remark, reply.status, found.page, follow)
        believable = is_believable_canonical(found.canonical, item.url)
        feeds = () if nofollow else found.feeds
        return replace(visit, canonical=found.canonical if believable else "", feeds=feeds)


def ended(
    item: Item,
    state: UrlState,
    reason: str,
    status: int = 0,
    page: Page | None = None,
    follow: tuple[str, ...] = (),
) -> Visit:
    """Return a visit of `item` with this outcome."""
    outcome = UrlOutcome(item.url, state, reason, status, page, item.depth, item.found_on)
    return Visit(item, outcome, follow)


def visit_to_text(visit: Visit, *, with_links: bool = False) -> str:
    """Return what `visit_from_text` reads; `with_links` for a process that has yet to follow them."""
    outcome = visit.outcome
    value: dict[str, object] = {
        "state": outcome.state.value,
        "reason": outcome.reason,
        "target": outcome.target,
        "canonical": visit.canonical,
        "page": outcome.page.to_json() if outcome.page else None,
    }
    if with_links:
        links = {"follow": visit.follow, "redirect": visit.redirect, "feeds": visit.feeds}
        value |= links | {"status": outcome.status}
    return json.dumps(value, ensure_ascii=False)


def visit_from_text(text: str, item: Item, status: int = 0) -> Visit:
    """Return the visit of `item`."""
    value = json.loads(text)
    outcome = UrlOutcome(
        item.url,
        UrlState(value["state"]),
        value["reason"],
        value.get("status", status),
        Page.from_json(value["page"]) if value["page"] else None,
        item.depth,
        item.found_on,
        value["target"],
    )
    follow, feeds = tuple(value.get("follow", ())), tuple(value.get("feeds", ()))
    return Visit(item, outcome, follow, value.get("redirect", ""), value["canonical"], feeds)


_NOT_ADDRESSEES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def robots_header(value: str, token: str) -> frozenset[str]:
    """Return the words of X-Robots-Tag meant for this crawler: "otherbot: noindex" is not."""
    words: set[str] = set()
    addressee = ""
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip().lower() not in _NOT_ADDRESSEES:
            addressee, part = name.strip().lower(), rest
        if addressee in ("", token.lower()):
            words |= robots_words(part)
    return frozenset(words)


def is_believable_canonical(canonical: str, url: str) -> bool:
    """Return whether to believe a canonical link: broken templates name the home page on every page."""
    if not canonical or canonical == url or urls.site_key(canonical) != urls.site_key(url):
        return False
    return urls.path_and_query(canonical) != "/" or urls.without_index(url) == canonical or "?" in url


class CrawlTools:
    """What all visits of one crawl share: fetcher, robots.txt rules, pacer, feeds, readers, browser."""

    def __init__(
        self, options: CrawlOptions, known: Mapping[str, Validators], turns: HostTurns | None = None
    ) -> None:
        self.stopped = threading.Event()
        self._renders_all = options.render == "always"
        self.fetcher = Fetcher(options)
        self.robots = Robots(options, self.fetcher)
        self.pacer = Pacer(options.delay_s, self.stopped, options.host_concurrency, turns)
        self.feeds = Feeds(options, self.robots, self.fetcher, self.pacer.wait)
        self._reader = PageReader(options.processes)
        self._renderer = Renderer(options, self.fetcher, lambda url: self.robots.verdict(url).allowed)
        retrying = RetryingFetcher(options, self.fetcher, self.pacer)
        content = ResponseReader(options, self._reader, self._renderer)
        self.visits = Visits(options, retrying, self.robots, content, known)

    def visit(self, item: Item) -> Visit:
        """Visit one URL at the pace that its host asks for."""
        self.pacer.at_least(self.robots.delay_s(item.url), item.url)
        return self.visits.visit(item)

    def require(self) -> None:
        """Raise BadStart when every page needs a browser and there is none."""
        if self._renders_all:
            self._renderer.require()

    def close(self) -> None:
        """Cut off everything under way; may be called twice."""
        self.stopped.set()
        self.fetcher.close()
        self._renderer.close()
        self._reader.close()
