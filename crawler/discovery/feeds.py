"""RSS, Atom and JSON feeds: addresses of a site's new pages."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator

from crawler.discovery import urls
from crawler.discovery.sitemap import entries
from crawler.errors import FetchError
from crawler.fetching.fetcher import Fetcher
from crawler.fetching.robots import Robots
from crawler.options import CrawlOptions

_MOST = 1000
_LARGEST = 10 * 1024 * 1024


class Feeds:
    """Reads the feeds that pages name, each once. Safe to use from many threads."""

    def __init__(
        self, options: CrawlOptions, robots: Robots, fetcher: Fetcher, wait: Callable[[str], bool]
    ) -> None:
        """`wait` returns when the crawler may request an address; False after the crawl was stopped."""
        self._left = options.max_feeds
        self._robots = robots
        self._fetcher = fetcher
        self._wait = wait
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def listed(self, feeds: Iterable[str]) -> Iterator[str]:
        """Yield the addresses in those feeds that were not read before; some may be on other sites.

        Skips feeds that cannot be read: their entries are linked from pages too.
        """
        for feed in feeds:
            with self._lock:
                if feed in self._seen or self._left <= 0:
                    continue
                self._seen.add(feed)
                self._left -= 1
            if self._robots.verdict(feed).allowed and self._wait(feed):
                yield from self._read(feed)

    def _read(self, feed: str) -> list[str]:
        try:
            reply = self._fetcher.get_following(feed)
        except FetchError:
            return []
        return feed_urls(reply.body, reply.content_type, reply.url) if reply.status == 200 else []


def feed_urls(body: bytes, content_type: str, base: str) -> list[str]:
    """Return the canonical addresses of the feed's entries, each once; none if it is no feed. Never fails.

    `content_type` may be wrong or empty, as it often is; `base` is the feed's own address.
    """
    is_json = "json" in content_type or body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
    written = _of_json(body) if is_json else [entry.address for entry in entries(body, _MOST, _LARGEST)]
    found = (urls.canonical(address, base) for address in written)
    return list(dict.fromkeys(url for url in found if url))


def _of_json(body: bytes) -> list[str]:
    try:
        value = json.loads(body[:_LARGEST])
    except (ValueError, RecursionError):
        return []
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return []
    named = [item.get("url") or item.get("external_url") for item in items[:_MOST] if isinstance(item, dict)]
    return [address for address in named if isinstance(address, str)]
