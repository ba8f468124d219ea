"""What the job worker throws away by itself, once an hour: what is older than the settings keep."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from server.settings import Settings
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.playground import PlaygroundStore
from server.storage.retention import Retention

log = logging.getLogger(__name__)

EVERY_S = 3600.0
PAUSE_S = 0.2
"""Between two batches, for those who wait to write."""


class Tidying:
    """Any number of workers may do it at once: what one deletes the other does not find."""

    def __init__(self, database: Database, settings: Callable[[], Settings]) -> None:
        self._retention = Retention(database)
        self._runs = PlaygroundStore(database)
        self._settings = settings

    def run(self, ending: threading.Event) -> None:
        """Until `ending` is set."""
        while not ending.is_set():
            try:
                self.forget_old(datetime.now(UTC), ending)
                self.forget_runs(datetime.now(UTC))
            except StorageError as error:
                log.warning("old conversations and runs are deleted later: %s", error)
            ending.wait(EVERY_S)

    def forget_old(self, at: datetime, ending: threading.Event) -> int:
        """Deletes conversations that are older than CONVERSATION_DAYS; returns how many."""
        days, total = self._settings().conversation_days, 0
        while days and not ending.is_set():
            count = self._retention.forget(at - timedelta(days=days))
            total += count
            if not count:
                break
            ending.wait(PAUSE_S)
        if total:
            log.info("%d conversations older than %d days were deleted", total, days)
        return total

    def forget_runs(self, at: datetime) -> int:
        """Deletes runs of the playground that are older than PLAYGROUND_DAYS; returns how many."""
        before, total = at - timedelta(days=self._settings().playground_days), 0
        while count := self._runs.forget(before):
            total += count
        return total
