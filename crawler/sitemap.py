"""Sitemaps: addresses that the site itself lists, with the time of their last change."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from crawler import urls
from crawler.errors import FetchError
from crawler.fetcher import Fetcher, Reply
from crawler.options import CrawlOptions
from crawler.robots import Robots
from crawler.sitemap_file import SITEMAP, Listing, entries

_USUAL_PLACES = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt")
"""Tried one after the other until there is one, where robots.txt names none."""
_MOST_WAITING = 50_000


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a sitemap."""

    url: str
    """Canonical."""
    lastmod: str = ""
    """When the page changed, as the site says, ISO 8601; empty when it does not. Only a hint: many sites
    write the time of the sitemap, so no page is taken for unchanged because of it."""


class Sitemaps:
    """Reads all sitemaps of a site, each file once, none in memory as a whole tree."""

    def __init__(
        self,
        options: CrawlOptions,
        robots: Robots,
        fetcher: Fetcher,
        wait: Callable[[str], bool] | None = None,
    ) -> None:
        """`wait` returns when an address may be asked for; False when the crawl was stopped."""
        self._wait = wait or (lambda url: True)
        self._options = options
        self._robots = robots
        self._fetcher = fetcher
        self.problems: list[str] = []
        """What could not be read, in words for the operator. Links may lead to the same pages."""

    def listed(self, start: str, belongs: Callable[[str], bool] | None = None) -> Iterator[Listed]:
        """Entries that belong to the site (by default: that of the start address), each file read once.

        An address may come more than once. Addresses and files of other sites are left out.
        """
        if self._robots.verdict(start).unreachable:
            return
        site = urls.site_key(start)
        belongs = belongs or (lambda url: urls.site_key(url) == site)
        named = self._robots.sitemaps(start)
        guessed = [] if named else [urls.origin(start) + path for path in _USUAL_PLACES]
        foreign = [address for address in named if not belongs(address)]
        self.problems += [f"{address}: on another site, so it was not read" for address in foreign]
        waiting = deque(address for address in named or guessed if address not in foreign)
        seen = set(waiting)
        for _ in range(self._options.sitemap_max_files):
            if not waiting:
                return
            address = waiting.popleft()
            for listing in self._read(address, guessed=address in guessed):
                if guessed:  # the place was found, no need to look further
                    waiting.clear()
                    guessed = []
                url = urls.canonical(listing.address)
                if url is None or not belongs(url):
                    continue
                if listing.kind != SITEMAP:
                    yield Listed(url, listing.lastmod)
                elif url not in seen and len(seen) < _MOST_WAITING:
                    seen.add(url)
                    waiting.append(url)
        if waiting:
            limit = self._options.sitemap_max_files
            self.problems.append(f"{waiting[0]}: not read, and others, for there are more than {limit} files")

    def _read(self, address: str, *, guessed: bool) -> Generator[Listing, None, None]:
        reply = self._fetch(address, guessed=guessed)
        if reply is None:
            return
        limits = self._options.sitemap_max_urls, self._options.sitemap_max_bytes
        problem = yield from entries(reply.body, *limits)
        if problem and not guessed:
            self.problems.append(f"{address}: {problem}")

    def _fetch(self, address: str, *, guessed: bool) -> Reply | None:
        verdict = self._robots.verdict(address)
        if not verdict.allowed and address not in self._robots.sitemaps(address):
            self.problems.append(f"{address}: {verdict.reason}")
            return None
        if not self._wait(address):
            return None
        try:
            reply = self._fetcher.get_following(address, max_bytes=self._options.sitemap_max_bytes)
        except FetchError as error:
            self.problems.append(f"{address}: {error}")
            return None
        if reply.status == 200:
            return reply
        if not guessed:
            self.problems.append(f"{address}: status {reply.status}")
        return None
