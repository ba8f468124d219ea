"""What a crawl remembers beyond its process, so that it goes on where it was cut off.

Every address found is an entry. An entry waits, then it was read (its visit is kept with it until the
crawl has judged it), then it ended; and it is settled when the consumer of the crawl has stored what it
got. After a kill at any moment, a crawl over the same journal visits what waits, hands out again what
was not settled, without fetching it again, and leaves the rest alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

WAITING = "waiting"
READ = "read"
"""States of an entry before it has one of `UrlState`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One address of a crawl."""

    url: str
    depth: int
    hops: int = 0
    """Redirects that led here."""
    found_on: str = ""
    """Address of the page that links to it; empty for start addresses, sitemaps and earlier crawls."""
    state: str = WAITING
    reason: str = ""
    status: int = 0
    content_hash: str = ""
    """Of the page, when it ended as one."""
    fingerprint: int = 0
    """64 bits by which nearly equal pages are found, signed."""
    visit: str = ""
    """What was read there, as text that only the crawl understands; empty once settled."""
    settled: bool = False


class Journal(Protocol):
    """What a call wrote survives kill -9 after it returned; each call is written wholly or not at all.

    `settle` is called by the consumer of the crawl, all else by one thread of the crawl itself, at the
    same time.
    """

    def entries(self) -> Iterator[Entry]:
        """Everything written before, lowest depth first."""

    def write(self, entries: Sequence[Entry]) -> None:
        """Adds entries; one of the same address is replaced."""

    def settle(self, urls: Sequence[str]) -> None:
        """Marks entries as settled and drops their visits."""

    def notes(self) -> dict[str, str]:
        """What `note` wrote: name -> value."""

    def note(self, name: str, value: str) -> None:
        """Remembers something about the whole crawl; an earlier value is replaced."""
