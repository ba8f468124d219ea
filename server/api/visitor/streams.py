"""Streams of answers. An answer is written to its end even if the visitor disconnects, and can be resumed."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from server.api.errors import error_body, failure_of
from server.domain.protocols import Cache
from server.storage.errors import StorageError
from server.storage.shared_cache import stream_key


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a log for the other processes."""

    owner: str
    """Key of the visitor who asked."""
    producer: str
    """The process that writes the answer."""
    asked: dict[str, Any]
    """What another process needs to write the answer in place of this one."""
    frames: list[str]
    finished: bool


class EventLog:
    """Events of one answer, written by one thread and read by any number of threads. They are kept for some
    minutes after the answer, so that a visitor whose connection broke misses nothing."""

    def __init__(
        self, message_id: str, owner: str, asked: dict[str, Any], frames: Sequence[str] = ()
    ) -> None:
        self.message_id = message_id
        self.owner = owner
        self._asked = asked
        self._frames = list(frames)
        self.is_finished = False
        self._grown = threading.Condition()

    def add(self, event: str, data: Mapping[str, object]) -> None:
        """Append an event with the next number, starting at 1."""
        with self._grown:
            self._frames.append(frame(event, data, f"{self.message_id}:{len(self._frames) + 1}"))
            self._grown.notify_all()

    def finish(self) -> None:
        """Mark the log as complete."""
        with self._grown:
            self.is_finished = True
            self._grown.notify_all()

    def wait(self, after: int, timeout_s: float) -> tuple[list[str], bool]:
        """Wait for events after number `after`. Return them, and whether the log is complete. There are no
        events after a timeout, or if none follow."""
        with self._grown:
            self._grown.wait_for(lambda: len(self._frames) > after or self.is_finished, timeout_s)
            return self._frames[after:], self.is_finished

    def snapshot(self, producer: str) -> Snapshot:
        """Return a copy of the log's current content."""
        with self._grown:
            return Snapshot(self.owner, producer, self._asked, list(self._frames), self.is_finished)


def frame(event: str, data: Mapping[str, object], id: str = "") -> str:
    """Return an event in wire format. JSON has no line breaks, so one data line is enough."""
    number = f"id: {id}\n" if id else ""
    return f"{number}event: {event}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"


def unframed(frame: str) -> tuple[str, dict[str, Any]]:
    """Return name and data of an event in wire format."""
    # Only these end a line: JSON may hold other separators as they are.
    fields = dict(line.split(": ", 1) for line in frame.split("\n") if line)
    return fields["event"], json.loads(fields["data"])


log = logging.getLogger(__name__)

STEP_S = 0.3
"""Seconds between two copies of the logs. Copying each word separately would cost too much."""
LONGEST_STEP_S = 1.2
"""Well below APPEAR_S, so that another process does not give up before a new log is copied."""
SHARE = 0.1
"""Maximum share of time for copying. With hundreds of logs the interval gets longer."""
KEEP_S = 300.0
"""Seconds for which a log can be resumed."""
BEAT_S = 1.0
ALIVE_S = 6.0
"""Seconds without a heartbeat after which a process and its unfinished answers count as dead."""
SILENT_S = 3.0
"""Seconds more, in which a cache that was restarted hears of it again."""
MOST_AHEAD = 10_000
"""Events that a visitor may have seen beyond the last copy: the process that goes on has a place for each."""


class StreamCopies:
    """Copies this process's logs to the cache at intervals, with a heartbeat.

    One thread does this for all logs, while there are any, so that no answer waits for it.
    """

    def __init__(self, cache: Callable[[], Cache]) -> None:
        self._cache = cache
        self._process = uuid4().hex
        self._changed = threading.Condition()
        self._logs: dict[str, EventLog] = {}
        self._written: dict[str, int] = {}
        self._thread: threading.Thread | None = None

    def put(self, log: EventLog) -> None:
        """Keep the copy of the log up to date until the log is complete."""
        with self._changed:
            self._logs[log.message_id] = log
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stream-copies", daemon=True)
                self._thread.start()
            elif len(self._logs) == 1:
                self._changed.notify_all()

    def local_log(self, message_id: str) -> EventLog | None:
        """Return the log if this process writes it, else None."""
        return self._logs.get(message_id)

    def last_copy(self, message_id: str) -> Snapshot | None:
        """Return the last copy of the log by any process, or None. Raises StorageError."""
        text = self._cache().get(stream_key(message_id))
        return Snapshot(**json.loads(text)) if text else None

    def is_alive(self, producer: str) -> bool:
        """Return whether the process that writes a log is alive. Raises StorageError."""
        return self._cache().get(_process_key(producer)) is not None

    def claim(self, message_id: str, producer: str) -> bool:
        """Return whether this process may go on with a log of the dead `producer`: only one does. Raises
        StorageError."""
        return self._cache().add(f"stream-taken:{producer}:{message_id}", "1", KEEP_S)

    def drain(self, timeout_s: float) -> bool:
        """Wait until every log is complete and copied; return False after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._logs, timeout_s)

    def _run(self) -> None:
        step, beaten = STEP_S, 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._logs))
            pause(step)
            started = time.monotonic()
            with self._changed:
                logs = list(self._logs.values())
            finished = [events.message_id for events in logs if events.is_finished]
            try:
                if started - beaten > BEAT_S:
                    self._cache().set(_process_key(self._process), "1", ALIVE_S)
                    beaten = started
                for events in logs:
                    self._write(events)
            except StorageError as error:
                log.warning("streams cannot be resumed by another process: %s", error)
            step = min(max(STEP_S, (time.monotonic() - started) / SHARE), LONGEST_STEP_S)
            self._forget(finished)

    def _forget(self, finished: list[str]) -> None:
        with self._changed:
            for message_id in finished:
                self._logs.pop(message_id, None)
                self._written.pop(message_id, None)
            self._changed.notify_all()

    def _write(self, events: EventLog) -> None:
        snapshot = events.snapshot(self._process)
        size = len(snapshot.frames) + snapshot.finished
        if size != self._written.get(events.message_id):
            text = json.dumps(asdict(snapshot), ensure_ascii=False)
            self._cache().set(stream_key(events.message_id), text, KEEP_S)
            self._written[events.message_id] = size


def _process_key(process: str) -> str:
    return f"stream-process:{process}"


HEARTBEAT_S = 15.0
HEARTBEAT = b": still here\n\n"
APPEAR_S = 4.0
"""Seconds to wait for the first copy of an answer that another process has just started. A process with more
questions than it can answer copies late."""

Event = tuple[str, Mapping[str, Any]]
Again = Callable[[dict[str, Any]], Iterable[Event]]
"""Answers once more what was asked, under the same message id."""


class UnknownStream(Exception):
    """The answer is unknown, was finished minutes ago, or belongs to another visitor."""


class Streams:
    """Writes this process's answers, and follows those of other processes."""

    def __init__(self, cache: Callable[[], Cache], threads: int, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._copies = StreamCopies(cache)
        self._heartbeat_s = heartbeat_s
        # Twice as many as streams, because answers of visitors who left are also written to the end.
        self._writers = ThreadPoolExecutor(max_workers=2 * threads, thread_name_prefix="answer")

    def start(
        self, message_id: str, owner: str, asked: dict[str, Any], events: Callable[[], Iterable[Event]]
    ) -> Iterator[bytes]:
        """Write the events in a separate thread, and yield them from the first one. `asked` is kept for the
        process that goes on if this one dies."""
        return self._follow(self._begun(EventLog(message_id, owner, asked), events), 0)

    def _begun(self, log: EventLog, events: Callable[[], Iterable[Event]]) -> EventLog:
        self._copies.put(log)
        self._writers.submit(copy_context().run, self._write, log, events)
        return log

    def resume(self, message_id: str, after: int, owner: str, again: Again) -> Iterator[bytes]:
        """Yield the events after number `after`, then live events, whichever process writes them. If that
        process is dead, this one goes on with `again`.

        Raises UnknownStream, StorageError.
        """
        log = self._copies.local_log(message_id)
        if log is not None:
            if log.owner != owner:
                raise UnknownStream
            return self._follow(log, after)
        snapshot = self._appearing(message_id)
        if snapshot is None or snapshot.owner != owner or after > len(snapshot.frames) + MOST_AHEAD:
            raise UnknownStream
        return self._follow_elsewhere(message_id, snapshot, after, again)

    def close(self, timeout_s: float) -> None:
        """Wait at most `timeout_s` for unfinished answers to be completed and copied."""
        self._copies.drain(timeout_s)
        self._writers.shutdown(wait=False, cancel_futures=True)

    def _write(self, log: EventLog, events: Callable[[], Iterable[Event]]) -> None:
        try:
            for name, data in events():
                log.add(name, data)
        except Exception as error:  # noqa: BLE001  after any error, the visitor must see that it ended
            log.add("error", failure_of(error).body)
        finally:
            log.finish()

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

    def _follow_elsewhere(
        self, message_id: str, snapshot: Snapshot, after: int, again: Again
    ) -> Iterator[bytes]:
        last_sent = heard = time.monotonic()
        while True:
            if frames := snapshot.frames[after:]:
                yield "".join(frames).encode()
                after += len(frames)
                last_sent = time.monotonic()
            if snapshot.finished:
                return
            if time.monotonic() - last_sent > self._heartbeat_s:
                yield HEARTBEAT
                last_sent = time.monotonic()
            if newer := self._newer(message_id, snapshot):
                snapshot, heard = newer, time.monotonic()
            elif time.monotonic() - heard > SILENT_S:
                try:
                    log = self._taken_over(message_id, snapshot, after, again)
                except StorageError:
                    text = "The server that wrote this answer was stopped before its end. Ask again."
                    yield frame("error", error_body("interrupted", text)).encode()
                    return
                if log is not None:
                    yield from self._follow(log, after)
                    return
                heard = time.monotonic()

    def _newer(self, message_id: str, snapshot: Snapshot) -> Snapshot | None:
        """Wait one interval and return the newer copy; None if the writing process gives no sign of life."""
        pause(STEP_S)
        try:
            # Checked first: a process may complete its log and then end.
            alive = self._copies.is_alive(snapshot.producer)
            newer = self._copies.last_copy(message_id)
        except StorageError:
            return None
        return newer if newer and (alive or newer.finished or newer.producer != snapshot.producer) else None

    def _taken_over(self, message_id: str, left: Snapshot, after: int, again: Again) -> EventLog | None:
        """Return the log of an answer whose process is dead, which this process writes on; None if another
        process does so. Raises StorageError."""
        if not self._copies.claim(message_id, left.producer):
            return None
        # A visitor may have seen more than was copied: then only the whole answer is sent at the end.
        missed = max(0, after - len(left.frames))
        log = EventLog(message_id, left.owner, left.asked, [*left.frames, *[""] * missed])
        told = [unframed(text) for text in left.frames if text]
        return self._begun(log, lambda: _further(told, again(left.asked), with_words=not missed))

    def _appearing(self, message_id: str) -> Snapshot | None:
        end = time.monotonic() + APPEAR_S
        while (snapshot := self._copies.last_copy(message_id)) is None and time.monotonic() < end:
            pause(STEP_S / 2)
        return snapshot


def _further(told: Collection[Event], events: Iterable[Event], *, with_words: bool) -> Iterator[Event]:
    """Yield what an answer that is written once more adds to the events `told`. A model may choose other
    words: then they come with the whole answer at the end, which replaces what came before."""
    shown, written = "".join(data["text"] for name, data in told if name == "delta"), ""
    for name, data in events:
        if name != "delta":
            if (name, data) not in told:
                yield name, data
            continue
        written += data["text"]
        if with_words and written != shown and written.startswith(shown):
            yield name, {"text": written[len(shown) :]}
            shown = written


def pause(seconds: float) -> None:
    """Wait for another process, which cannot notify this one."""
    threading.Event().wait(seconds)
