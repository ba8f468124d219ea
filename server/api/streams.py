"""Answers on their way: written whether or not anybody listens, followed by whoever asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from server.api.errors import error_body, failure_of
from server.api.event_log import EventLog, Snapshot, frame
from server.api.stream_shelf import STEP_S, StreamShelf
from server.domain.protocols import Cache
from server.storage.errors import StorageError

HEARTBEAT_S = 15.0
HEARTBEAT = b": still here\n\n"
APPEAR_S = 1.5
"""Seconds until the log of an answer that has just begun elsewhere must be seen."""

Event = tuple[str, Mapping[str, object]]


class UnknownStream(Exception):
    """No such answer is being written, none was in the last minutes, or it is another visitor's."""


class Streams:
    """The answers that this process writes, and the way to those of others."""

    def __init__(self, cache: Callable[[], Cache], threads: int, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._shelf = StreamShelf(cache)
        self._heartbeat_s = heartbeat_s
        # Twice the streams: answers whose visitor has left are written to their end beside the others.
        self._writers = ThreadPoolExecutor(max_workers=2 * threads, thread_name_prefix="answer")

    def start(self, message_id: str, owner: str, events: Callable[[], Iterable[Event]]) -> Iterator[bytes]:
        """Writes the events in a thread of its own and follows them from the first one on."""
        log = EventLog(message_id, owner)
        self._shelf.put(log)
        self._writers.submit(self._write, log, events)
        return self._follow(log, 0)

    def resume(self, message_id: str, after: int, owner: str) -> Iterator[bytes]:
        """Replays the events behind number `after`, then goes on live, whichever process writes them.

        Raises UnknownStream, StorageError.
        """
        log = self._shelf.here(message_id)
        if log is not None:
            if log.owner != owner:
                raise UnknownStream
            return self._follow(log, after)
        snapshot = self._appearing(message_id)
        if snapshot is None or snapshot.owner != owner:
            raise UnknownStream
        return self._follow_elsewhere(message_id, snapshot, after)

    def close(self, timeout_s: float) -> None:
        """Gives the answers that are being written this long to end and to be kept."""
        self._shelf.drain(timeout_s)
        self._writers.shutdown(wait=False, cancel_futures=True)

    def _write(self, log: EventLog, events: Callable[[], Iterable[Event]]) -> None:
        try:
            for name, data in events():
                log.add(name, data)
        except Exception as error:  # noqa: BLE001  whatever it is, the visitor must hear that it has ended
            failure = failure_of(error)
            log.add("error", error_body(failure.code, failure.message, failure.retry_after))
        finally:
            log.finish()
            self._shelf.ended(log.message_id)

    def _follow(self, log: EventLog, after: int) -> Iterator[bytes]:
        while True:
            frames, finished = log.wait(after, self._heartbeat_s)
            if frames:
                yield "".join(frames).encode()
                after += len(frames)
            elif not finished:
                yield HEARTBEAT
            if finished:
                return

    def _follow_elsewhere(self, message_id: str, snapshot: Snapshot, after: int) -> Iterator[bytes]:
        said = time.monotonic()
        while True:
            if frames := snapshot.frames[after:]:
                yield "".join(frames).encode()
                after += len(frames)
                said = time.monotonic()
            if snapshot.finished:
                return
            if time.monotonic() - said > self._heartbeat_s:
                yield HEARTBEAT
                said = time.monotonic()
            newer = self._newer(message_id, snapshot)
            if newer is None:
                text = "The server that wrote this answer was stopped before its end. Ask again."
                yield frame("error", error_body("interrupted", text)).encode()
                return
            snapshot = newer

    def _newer(self, message_id: str, snapshot: Snapshot) -> Snapshot | None:
        """What was written since, after a step; None when nobody will write any more."""
        pause(STEP_S)
        try:
            # Asked first: a process that ends its answer and then itself leaves a finished log.
            alive = self._shelf.is_alive(snapshot.producer)
            newer = self._shelf.elsewhere(message_id)
        except StorageError:
            return None
        return newer if newer and (alive or newer.finished) else None

    def _appearing(self, message_id: str) -> Snapshot | None:
        end = time.monotonic() + APPEAR_S
        while (snapshot := self._shelf.elsewhere(message_id)) is None and time.monotonic() < end:
            pause(STEP_S / 2)
        return snapshot


def pause(seconds: float) -> None:
    """Waits for another process, which cannot notify this one."""
    threading.Event().wait(seconds)
