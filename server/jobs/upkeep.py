"""What the job worker looks after by itself: crawls that were left, and those whose time has come."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from server.domain.schedule import next_time
from server.jobs.crawl_control import CrawlControl
from server.storage.crawls import CrawlStore
from server.storage.errors import StorageError
from server.storage.schedules import ScheduleStore

log = logging.getLogger(__name__)

EVERY_S = 5.0


class Upkeep:
    """Any number of workers may do it at once: the database decides who starts what."""

    def __init__(
        self,
        crawls: CrawlStore,
        schedules: ScheduleStore,
        control: CrawlControl,
        queue: Callable[[str, int], None],
        queued: Callable[[], int],
    ) -> None:
        self._crawls = crawls
        self._schedules = schedules
        self._control = control
        self._queue = queue
        self._queued = queued

    def run(self, ending: threading.Event) -> None:
        """Until `ending` is set."""
        while not ending.wait(EVERY_S):
            try:
                self.take_up_left()
                self.queue_waiting()
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
