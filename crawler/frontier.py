"""Which URLs wait, which are under way, and when the crawl is over.

Every URL enters once. A slot is taken when a URL is handed out and given back when it turns out to
be no page, so that the page limit is exact however many threads fetch.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace

from crawler.spellings import Spellings


@dataclass(frozen=True, slots=True)
class Item:
    """A URL to visit."""

    url: str
    depth: int
    hops: int = 0
    """Redirects that led here."""
    found_on: str = ""
    """Address of the page that links to it; empty for start addresses, sitemaps and earlier crawls."""


class Frontier:
    """In memory; safe to use from many threads."""

    def __init__(self, *, max_pages: int, max_depth: int, max_urls: int) -> None:
        self._max_pages = max_pages
        self._max_depth = max_depth
        self._max_urls = max_urls
        self._queue: deque[Item] = deque()
        self._seen: set[str] = set()
        self._deep: dict[str, Item] = {}
        self._pages: set[str] = set()
        self._spellings = Spellings()
        self._under_way = 0
        self._slots = 0
        self.first_ignored = ""
        """The first URL that was not noted because there were too many; others may have followed."""
        self._closed = False
        self._changed = threading.Condition()

    @property
    def discovered(self) -> int:
        return len(self._seen)

    @property
    def under_way(self) -> int:
        """URLs taken and not settled; one more while somebody is still finding URLs."""
        with self._changed:
            return self._under_way

    def add(self, item: Item, *, first: bool = False) -> Item | None:
        """Notes a URL, and queues it when it is not too deep; `first` puts it before all others. Gives the
        item that was noted, under the spelling that counts; None when the URL was known."""
        with self._changed:
            url = self._spellings.folder(item.url)
            item = item if url == item.url else replace(item, url=url)
            if item.depth > self._max_depth:
                if not self._enter(url):
                    return None
                self._deep[url] = item
                return item
            if self._deep.pop(url, None) is None and not self._enter(url):
                return None  # what was too deep was found again, by a shorter way
            if first:
                self._queue.appendleft(item)
            else:
                self._queue.append(item)
            self._changed.notify()
            return item

    def restore(self, url: str, *, keeps_slot: bool) -> None:
        """A URL that ended, or was read, before the crawl was cut off."""
        with self._changed:
            self._seen.add(url)
            self._slots += keeps_slot
            if keeps_slot:
                self._pages.add(url)

    def knows(self, url: str) -> bool:
        """Whether a URL was found and nothing is left to be done with it; asked for every link."""
        with self._changed:
            url = self._spellings.folder(url)
            return url in self._seen and url not in self._deep

    def enter(self, url: str) -> bool:
        """Marks a URL as found without queueing it; False when it was known."""
        with self._changed:
            return self._enter(url)

    def take(self) -> Item | None:
        """The next URL, as soon as there is one and a slot for it; None when the crawl is over."""
        with self._changed:
            while not self._closed:
                if self._queue and self._slots < self._max_pages:
                    self._slots += 1
                    self._under_way += 1
                    return self._queue.popleft()
                if self._under_way == 0:
                    break
                self._changed.wait()
            self._changed.notify_all()
            return None

    def expect_more(self) -> None:
        """Somebody is still finding URLs: the crawl is not over before `no_more`."""
        with self._changed:
            self._under_way += 1

    def no_more(self) -> None:
        """The finder is done."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def settle(self, *, keeps_slot: bool) -> None:
        """A URL that was taken is done; `keeps_slot` when it is a page or may yet become one."""
        with self._changed:
            self._under_way -= 1
            if not keeps_slot:
                self._slots -= 1
            self._changed.notify_all()

    def release_slot(self) -> None:
        """A page that kept its slot was none after all."""
        with self._changed:
            self._slots -= 1
            self._changed.notify_all()

    def learn(self, spellings: Spellings) -> None:
        """What the crawl learned about spellings; from now on they count as one."""
        with self._changed:
            self._spellings = spellings

    def note_page(self, url: str) -> None:
        """A URL ended as a page."""
        with self._changed:
            self._pages.add(url)

    def is_page(self, url: str) -> bool:
        """Whether a URL ended as a page."""
        with self._changed:
            return url in self._pages

    def same_as(self, item: Item) -> str:
        """The URL that an item is another spelling of, as learned since it was queued; empty if none."""
        with self._changed:
            short = self._spellings.folder(item.url)
            if short != item.url:
                return short if short in self._seen else ""
            # What a redirect leads to may be the twin of what redirects.
            twin = "" if item.hops else self._spellings.twin(item.url)
            return twin if twin in self._pages else ""

    def close(self) -> None:
        """Nothing more is handed out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def left(self) -> tuple[list[Item], list[Item]]:
        """What still waits, and what was too deep. Only for a crawl that is over."""
        with self._changed:
            return list(self._queue), list(self._deep.values())

    def _enter(self, url: str) -> bool:
        if url in self._seen:
            return False
        if len(self._seen) >= self._max_urls:
            self.first_ignored = self.first_ignored or url
            return False
        self._seen.add(url)
        return True
