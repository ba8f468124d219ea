"""What the job worker looks after by itself: crawls that were left, and those whose time has come."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from server.domain.protocols import Cache
from server.domain.site import next_time
from server.jobs.crawl_control import CrawlControl
from server.playground.store import PlaygroundStore
from server.settings import SETTINGS, Settings
from server.storage.conversations.conversations import Retention
from server.storage.conversations.figures import UsageStore
from server.storage.crawls.runs import CrawlStore, ScheduleStore
from server.storage.database import Database
from server.storage.errors import StorageError

log = logging.getLogger(__name__)

EVERY_S = 5.0
REMOVAL_S = 600.0
"""Seconds after which the removal of a site is queued again."""


@dataclass(eq=False)
class Upkeep:
    """Any number of workers may do it at once: the database decides who starts what."""

    _crawls: CrawlStore
    _schedules: ScheduleStore
    _control: CrawlControl
    _queue: Callable[[str, int], None]
    _queued: Callable[[], int]
    _leaving: Callable[[], Iterable[str]] = tuple
    """Returns the sites whose removal has begun."""
    _queue_removal: Callable[[str], None] = lambda site_id: None
    _removed_at: dict[str, float] = field(default_factory=dict)

    def run(self, ending: threading.Event) -> None:
        """Until `ending` is set."""
        while not ending.wait(EVERY_S):
            try:
                self.take_up_left()
                self.queue_waiting()
                self.queue_removals(time.monotonic())
                self.start_due(datetime.now(UTC))
            except StorageError as error:
                log.warning("the upkeep of crawls is tried again in %g s: %s", EVERY_S, error)

    def take_up_left(self) -> None:
        """Queues the crawls whose process is gone: they go on where they were cut off."""
        for run in self._crawls.interrupted():
            if self._crawls.release(run):
                log.info("crawl %s of %s was cut off and is queued again", run.id, run.site_id)
                self._queue(run.site_id, run.id)

    def queue_waiting(self) -> None:
        """Queues the crawls that wait and whose job was lost, or was done while the site was busy."""
        if not self._queued():
            for run in self._crawls.waiting():
                self._queue(run.site_id, run.id)

    def queue_removals(self, at: float) -> None:
        """Queues removals of sites that have not ended for long: their job was lost."""
        self._removed_at = {site_id: self._removed_at.get(site_id, at) for site_id in self._leaving()}
        for site_id, since in self._removed_at.items():
            if at - since >= REMOVAL_S:
                self._removed_at[site_id] = at
                self._queue_removal(site_id)

    def start_due(self, moment: datetime) -> None:
        """Starts the crawls whose time has come; a site whose last one goes on, or is paused, waits for
        its next time."""
        for due in self._schedules.due(moment):
            if not self._schedules.claim(due, next_time(due.every, moment)):
                continue
            latest = self._crawls.latest(due.site_id)
            if latest is None or not latest.is_open:
                log.info("the %s crawl of %s begins", due.every, due.site_id)
                self._control.start(due.site_id)


TIDY_EVERY_S = 3600.0
PAUSE_S = 0.2
"""Between two batches, for those who wait to write."""


class Tidying:
    """Any number of workers may do it at once: what one deletes the other does not find."""

    def __init__(self, database: Database, settings: Callable[[], Settings]) -> None:
        self._retention = Retention(database)
        self._runs = PlaygroundStore(database)
        self._usage = UsageStore(database)
        self._settings = settings

    def run(self, ending: threading.Event) -> None:
        """Until `ending` is set."""
        while not ending.is_set():
            try:
                self.forget_old(datetime.now(UTC), ending)
                self.forget_runs(datetime.now(UTC), ending)
                self._usage.forget_budgets()
            except StorageError as error:
                log.warning("old conversations and runs are deleted later: %s", error)
            ending.wait(TIDY_EVERY_S)

    def forget_old(self, at: datetime, ending: threading.Event) -> int:
        """Deletes conversations that are older than CONVERSATION_DAYS; returns how many."""
        settings = self._settings()
        days = settings.privacy.conversation_days
        if days and not SETTINGS["conversation_days"].is_given(settings):
            begins = self._retention.begins(days, at)
            days = days if begins is not None and begins <= at else 0
        if not days:
            return 0
        before = at - timedelta(days=days)
        total = _in_batches(lambda: self._retention.forget(before), ending)
        if total:
            log.info("%d conversations older than %d days were deleted", total, days)
        return total

    def forget_runs(self, at: datetime, ending: threading.Event) -> int:
        """Deletes runs of the playground that are older than PLAYGROUND_DAYS; returns how many."""
        before = at - timedelta(days=self._settings().quality.playground_days)
        return _in_batches(lambda: self._runs.forget(before), ending)


def _in_batches(forget: Callable[[], int], ending: threading.Event) -> int:
    """Call `forget`, which deletes one batch, until nothing is left or `ending` is set; return how many were
    deleted."""
    total = 0
    while not ending.is_set() and (count := forget()):
        total += count
        ending.wait(PAUSE_S)
    return total


KEPT_S = 30 * 86_400.0
_WORKER = "heartbeat:worker"


class Heartbeat:
    """Signs of life of the job worker, and since when each part is as it is. In the shared cache, for every
    process; no harm when it is lost."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def run(self, ending: threading.Event) -> None:
        """Runs in addition to a worker's jobs, until `ending` is set."""
        while not ending.is_set():
            try:
                self.beat()
            except StorageError as error:
                log.warning("the worker's sign of life is not kept: %s", error)
            ending.wait(EVERY_S)

    def beat(self) -> None:
        """A worker is alive now."""
        self._cache.set(_WORKER, datetime.now(UTC).isoformat(), KEPT_S)

    def last(self) -> datetime | None:
        """When a worker was alive last; None when none ever was, or it is not known."""
        known = self._cache.get(_WORKER)
        return datetime.fromisoformat(known) if known else None

    def since(self, part: str, is_well: bool) -> datetime | None:
        """Since when a part is as it is, as far as anybody looked; None before the first change."""
        key, state = f"heartbeat:part:{part}", "well" if is_well else "bad"
        was, _, moment = (self._cache.get(key) or "").partition(" ")
        if was and was != state:
            moment = datetime.now(UTC).isoformat()
        self._cache.set(key, f"{state} {moment}", KEPT_S)
        return datetime.fromisoformat(moment) if moment else None
