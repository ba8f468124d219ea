"""Where logs of events are kept for the other processes of the installation: the shared cache."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from uuid import uuid4

from server.api.event_log import EventLog, Snapshot
from server.domain.protocols import Cache
from server.storage.errors import StorageError

log = logging.getLogger(__name__)

STEP_S = 0.3
"""Seconds between two writes of a log that grows: each word by itself would cost too much."""
LONGEST_STEP_S = 2.0
SHARE = 0.1
"""Part of the time that writing growing logs may take: with hundreds of them the steps get coarser."""
KEEP_S = 300.0
"""Seconds that a log can be resumed."""
BEAT_S = 1.0
ALIVE_S = 6.0
"""Seconds without a beat after which a process counts as dead, and its unfinished answers with it."""


class StreamShelf:
    """Copies this process's logs to the cache in coarse steps, and says that the process lives.

    One thread does it for all logs, so nobody waits for it.
    """

    def __init__(self, cache: Callable[[], Cache]) -> None:
        self._cache = cache
        self._process = uuid4().hex
        self._changed = threading.Condition()
        self._logs: dict[str, EventLog] = {}
        self._written: dict[str, int] = {}
        self._ended: set[str] = set()
        self._thread: threading.Thread | None = None

    def put(self, log: EventLog) -> None:
        """Keeps the log in the cache up to date until `ended`."""
        with self._changed:
            self._logs[log.message_id] = log
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stream-shelf", daemon=True)
                self._thread.start()

    def ended(self, message_id: str) -> None:
        """The log is finished: it is written a last time, soon."""
        with self._changed:
            self._ended.add(message_id)
            self._changed.notify_all()

    def here(self, message_id: str) -> EventLog | None:
        """The log, when this process writes it."""
        return self._logs.get(message_id)

    def elsewhere(self, message_id: str) -> Snapshot | None:
        """The log as any process wrote it last. Raises StorageError."""
        text = self._cache().get(_log_key(message_id))
        return Snapshot.from_json(text) if text else None

    def is_alive(self, producer: str) -> bool:
        """Whether the process that wrote a log still does. Raises StorageError."""
        return self._cache().get(_process_key(producer)) is not None

    def drain(self, timeout_s: float) -> bool:
        """Waits until every log is finished and written; False when that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._logs, timeout_s)

    def _run(self) -> None:
        next_step = beaten = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._ended), STEP_S)
                ended, self._ended = self._ended, set()
                now = time.monotonic()
                step, working = now >= next_step, bool(self._logs)
                due = {id: events for id, events in self._logs.items() if step or id in ended}
            try:
                if working and now - beaten > BEAT_S:
                    self._cache().set(_process_key(self._process), "1", ALIVE_S)
                    beaten = now
                for message_id, events in due.items():
                    self._write(message_id, events)
            except StorageError as error:
                log.warning("streams cannot be resumed by another process: %s", error)
            if step:
                next_step = now + min(max(STEP_S, (time.monotonic() - now) / SHARE), LONGEST_STEP_S)
            self._forget(ended)

    def _forget(self, ended: set[str]) -> None:
        with self._changed:
            for message_id in ended:
                self._logs.pop(message_id, None)
                self._written.pop(message_id, None)
            self._changed.notify_all()

    def _write(self, message_id: str, events: EventLog) -> None:
        snapshot = events.snapshot(self._process)
        size = len(snapshot.frames) + snapshot.finished
        if size != self._written.get(message_id):
            self._cache().set(_log_key(message_id), snapshot.to_json(), KEEP_S)
            self._written[message_id] = size


def _log_key(message_id: str) -> str:
    return f"stream:{message_id}"


def _process_key(process: str) -> str:
    return f"stream-process:{process}"
