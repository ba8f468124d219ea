"""Keeps a crawl in touch with the rest of the installation while it runs: every second it says that it
lives, and learns what its operator wants."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from server.domain.derived import BuildStopped
from server.domain.spending import Used
from server.storage.crawls.runs import PAUSE, STOP, CrawlStore
from server.storage.errors import StorageError
from server.storage.leases import LEASE_S

log = logging.getLogger(__name__)

EVERY_S = 1.0
QUIT, LOST, FULL = "quit", "lost", "full"


class CrawlCutShort(Exception):
    """The crawl ended before it was over: paused, or left to the next worker."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """How this process asks its own crawl to end soon, such as at Ctrl-C."""

    event: threading.Event = field(default_factory=threading.Event)
    pauses: bool = False
    """Whether the crawl then is paused; otherwise the next worker goes on with it."""


@dataclass(eq=False)
class CrawlWatch:
    """Inside the `with` block, `stop` is set when the crawl must end, and `reason` says why: PAUSE, STOP,
    QUIT (this process ends), LOST (another process has taken the crawl over) or FULL (the disk has too little
    free space, as `says` tells)."""

    _crawls: CrawlStore
    crawl_id: int
    _holder: str
    _interrupt: Interrupt
    _lacking_space: Callable[[], str]
    """Returns why there is no room for a crawl, or ""."""

    def __post_init__(self) -> None:
        self.says = ""
        self._over = threading.Event()
        self._heard = time.monotonic()
        name = f"crawl-{self.crawl_id}-watch"
        self._thread = threading.Thread(target=self._watch, name=name, daemon=True)
        self.stop = threading.Event()
        self.reason = ""

    def __enter__(self) -> Self:
        self._look()  # what was wanted before the crawl was taken up
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join(timeout=5)

    @property
    def pauses_here(self) -> bool:
        """Return whether this process itself asked for the pause."""
        return self._interrupt.pauses and self._interrupt.event.is_set()

    def _watch(self) -> None:
        due = time.monotonic() + EVERY_S
        while not self._over.is_set():
            # The interrupt is an event of the whole process: a short look at it is cheaper than a thread.
            self._over.wait(0.05)
            if self._interrupt.event.is_set() and not self.reason:
                self._end(PAUSE if self._interrupt.pauses else QUIT)
            if time.monotonic() >= due:
                due = time.monotonic() + EVERY_S
                self._look()

    def _look(self) -> None:
        if not self.reason and (says := self._lacking_space()):
            self.says = says
            self._end(FULL)
        try:
            wanted = self._crawls.beat(self.crawl_id, self._holder)
        except StorageError as error:
            log.warning("crawl %s cannot say that it lives: %s", self.crawl_id, error)
            if time.monotonic() - self._heard > LEASE_S:
                self._end(LOST)
            return
        self._heard = time.monotonic()
        if wanted is None:
            self._end(LOST)
        elif wanted in (PAUSE, STOP):
            self._end(wanted)

    def _end(self, reason: str) -> None:
        self.reason = reason
        self.stop.set()


class BuildWatch:
    """Implements Monitor: a build within a crawl ends when the crawl shall."""

    def __init__(self, watch: CrawlWatch) -> None:
        """What was wanted of the crawl already, such as to stop reading pages, does not end the build."""
        self._watch = watch
        self._before = watch.reason
        self._told = 0.0

    def step(self, name: str, done: int, total: int) -> None:
        """Logs once a second how far it is. Raises BuildStopped."""
        if self._watch.reason != self._before:
            raise BuildStopped(f"ended at {name}, {done} of {total}")
        if time.monotonic() - self._told >= EVERY_S:
            self._told = time.monotonic()
            log.info("crawl %s: %s: %s of %s", self._watch.crawl_id, name, done, total)

    def spent(self, used: Used) -> None:
        """Counted by the model itself."""
