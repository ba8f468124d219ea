"""The queue of a crawl: which URLs wait, which are being visited, and when the crawl is over.

Every URL enters once. A URL that is taken occupies one of the slots of the page limit, and frees it again
unless it turns out to be a page, so the limit is exact however many threads fetch.

Of a large site most URLs that wait are in a SharedFrontier, where other processes take some too: under a
lease that they renew, so that those of a process that was killed are free again soon. The process that
carries out the crawl takes in what they bring, and it alone knows what was found and what became of it.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from crawler.discovery.urls import Spellings
from crawler.options import CrawlOptions
from crawler.spilling import Spilling

_FOUND, _VISITED, _PAGE = range(3)


@dataclass(frozen=True, slots=True)
class Item:
    """A URL to visit."""

    url: str
    depth: int
    hops: int = 0
    """Redirects that led here."""
    found_on: str = ""
    """Address of the page that links to it; empty for start addresses, sitemaps and earlier crawls."""


class SharedFrontier(Protocol):
    """URLs of one crawl that wait where other processes see them. Each call is atomic, and survives kill -9.

    A URL stays until it is taken back, or until its visit is `recorded`.
    """

    def begin(self) -> set[str]:
        """Drop the URLs that nobody visits; return the others, when a crawl goes on that was interrupted."""

    def put(self, items: Sequence[Item]) -> None:
        """Let others visit these; those that are there already stay as they are."""

    def take_back(self, most: int, *, leased: bool = False) -> list[Item]:
        """Remove and return some that nobody visits; with `leased`, any."""

    def brought(self, most: int) -> list[tuple[Item, str]]:
        """Return visits of others, as text."""

    def recorded(self, urls: Sequence[str]) -> None:
        """Remove URLs whose visits are in the journal."""

    def is_empty(self) -> bool:
        """Return whether no URL is left."""

    def processes(self) -> int:
        """Return how many processes visit URLs of the crawl, the one that carries it out included."""


class Frontier:
    """The URLs of one crawl, in memory. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions) -> None:
        self._options = options
        self._queue: deque[Item] = deque()
        self._seen: Spilling[int] = Spilling()
        """Address -> _FOUND, _VISITED or _PAGE."""
        self._deep: dict[str, Item] = {}
        self._spellings = Spellings()
        self.under_way = 0
        """URLs taken and not settled; one more while a finder announced more URLs."""
        self.expected = 0
        """Number of finders that announced more URLs."""
        self._slots = 0
        self.first_ignored = ""
        """The first URL dropped because there were too many; others may have followed."""
        self.is_closed = False
        self._changed = threading.Condition()

    @property
    def discovered(self) -> int:
        return len(self._seen)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def is_full(self) -> bool:
        """Whether every slot is taken, and no visit is under way."""
        with self._changed:
            return self._slots >= self._options.max_pages and self.under_way == self.expected

    def add(self, item: Item, *, first: bool = False) -> Item | None:
        """Add a URL, and queue it unless it is too deep; `first` puts it before all others.

        Return the item under the spelling that counts; None when the URL was known.
        """
        with self._changed:
            url = self._spellings.folder(item.url)
            item = item if url == item.url else replace(item, url=url)
            if item.depth > self._options.max_depth:
                if not self.enter(url):
                    return None
                self._deep[url] = item
                return item
            if self._deep.pop(url, None) is None and not self.enter(url):
                return None  # what was too deep was found again, by a shorter way
            if first:
                self._queue.appendleft(item)
            else:
                self._queue.append(item)
            self._changed.notify()
            return item

    def restore(self, url: str, *, keeps_slot: bool) -> None:
        """Add a URL that ended, or was visited, before the crawl was interrupted."""
        with self._changed:
            self._seen[url] = _PAGE if keeps_slot else _VISITED
            self._slots += keeps_slot

    def knows(self, url: str) -> bool:
        """Return whether a URL was found before and needs nothing more; called for every link."""
        with self._changed:
            url = self._spellings.folder(url)
            return url in self._seen and url not in self._deep

    def enter(self, url: str) -> bool:
        """Mark a URL as found without queueing it; False when it was known, or when there are too many."""
        with self._changed:
            if url in self._seen:
                return False
            if len(self._seen) >= self._options.max_urls:
                self.first_ignored = self.first_ignored or url
                return False
            self._seen[url] = _FOUND
            return True

    def take(self) -> Item | None:
        """Wait for the next URL and a free slot; None when the crawl is over."""
        with self._changed:
            while not self.is_closed:
                if self._queue and self._slots < self._options.max_pages:
                    self._slots += 1
                    self.under_way += 1
                    return self._queue.popleft()
                if self.under_way == 0:
                    break
                self._changed.wait()
            self._changed.notify_all()
            return None

    def surplus(self, keep: int, most: int) -> list[Item]:
        """Give away the URLs that were queued last, so that `keep` wait here; at most so many at a time."""
        with self._changed:
            return [self._queue.pop() for _ in range(min(most, len(self._queue) - keep))][::-1]

    def put_back(self, items: Sequence[Item]) -> None:
        """Queue URLs that were given away."""
        with self._changed:
            for item in items:
                self.enter(item.url)
            self._queue.extend(items)
            self._changed.notify_all()

    def take_in(self, url: str) -> bool:
        """Count a URL that another process visited as taken; False while there is no free slot."""
        with self._changed:
            if self._slots >= self._options.max_pages:
                return False
            self.enter(url)
            self._slots += 1
            self.under_way += 1
            return True

    def expect_more(self) -> None:
        """Announce that more URLs are coming: the crawl is not over before `no_more`."""
        with self._changed:
            self.under_way += 1
            self.expected += 1

    def no_more(self) -> None:
        """End an announcement of `expect_more`."""
        with self._changed:
            self.under_way -= 1
            self.expected -= 1
            self._changed.notify_all()

    def settle(self, *, keeps_slot: bool) -> None:
        """End the visit of a URL that was taken; `keeps_slot` when it is a page or may become one."""
        with self._changed:
            self.under_way -= 1
            if not keeps_slot:
                self._slots -= 1
            self._changed.notify_all()

    def release_slot(self) -> None:
        """Free the slot of a visit that turned out not to be a page."""
        with self._changed:
            self._slots -= 1
            self._changed.notify_all()

    def learn(self, spellings: Spellings) -> None:
        """Use what the crawl learned about spellings: from now on they count as one URL."""
        with self._changed:
            self._spellings = spellings

    def note_visited(self, url: str) -> None:
        """Remember that a URL was visited."""
        with self._changed:
            if self._seen.get(url) != _PAGE:
                self._seen[url] = _VISITED

    def was_visited(self, url: str) -> bool:
        """Return whether `note_visited` or `note_page` was called for a URL."""
        with self._changed:
            return self._seen.get(url, _FOUND) != _FOUND

    def note_page(self, url: str) -> None:
        """Remember that a URL ended as a page."""
        with self._changed:
            self._seen[url] = _PAGE

    def is_page(self, url: str) -> bool:
        """Return whether a URL ended as a page."""
        with self._changed:
            return self._seen.get(url) == _PAGE

    def same_as(self, item: Item) -> str:
        """Return the known URL that `item` spells differently; empty when there is none."""
        with self._changed:
            short = self._spellings.folder(item.url)
            if short != item.url:
                return short if short in self._seen else ""
            # What a redirect leads to may be the twin of what redirects.
            twin = "" if item.hops else self._spellings.twin(item.url)
            return twin if self._seen.get(twin) == _PAGE else ""

    def close(self) -> None:
        """Let `take` return None from now on."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def left(self) -> tuple[list[Item], list[Item]]:
        """Return what still waits, and what was too deep. Only for a crawl that is over."""
        with self._changed:
            return list(self._queue), list(self._deep.values())
