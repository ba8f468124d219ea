"""One crawl of a site, as it is on record."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
DONE, FAILED, STOPPED = "done", "failed", "stopped"
HELD = "held"
"""Ended, and what it brought is not live: the quality gate holds it back."""
OPEN = frozenset({WAITING, RUNNING, PAUSED})
"""States of a crawl that goes on, or may."""

PAUSE, STOP = "pause", "stop"
"""What an operator may want of a crawl that runs."""

WHOLE, PAGE, DECISION = "site", "page", "decision"
"""What a crawl reads: the site, one page of it again, or nothing: it brings one page in line with what
operators decided about it."""


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """One crawl of a site."""

    STORED: ClassVar[tuple[str, ...]] = (
        *("id", "site_id", "state", "started_at", "finished_at", "found", "fetched", "indexed", "message"),
        *("wanted", "holder", "beat_at", "rate", "remaining_s", "kind", "url"),
    )

    id: int
    site_id: str
    state: str
    """waiting, running, paused, done, failed or stopped."""
    started_at: datetime
    finished_at: datetime | None
    found: int
    fetched: int
    indexed: int
    message: str
    wanted: str = ""
    """What was asked of it and is not yet done: "pause", "stop" or nothing."""
    holder: str = ""
    """The process that works on it."""
    beat_at: datetime | None = None
    """When that process was last heard of; None when nobody has begun with it."""
    rate: float = 0.0
    """Addresses done in a second, of late."""
    remaining_s: int | None = None
    """Seconds until it has read all it found, at this rate; None when nobody can tell."""
    kind: str = WHOLE
    """site, page or decision."""
    url: str = ""
    """The page, where it is about one."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many addresses are in each state."""

    @property
    def is_open(self) -> bool:
        """Whether it goes on, or may."""
        return self.state in OPEN
