"""The events of one answer, kept while it is written and for some minutes after, so that a visitor
whose connection broke misses nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A log as the other processes see it."""

    owner: str
    """Key of the visitor who asked."""
    producer: str
    """The process that writes the answer."""
    frames: list[str]
    finished: bool

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Snapshot:
        return cls(**json.loads(text))


class EventLog:
    """Written by one thread, followed by any number."""

    def __init__(self, message_id: str, owner: str) -> None:
        self.message_id = message_id
        self.owner = owner
        self._frames: list[str] = []
        self._finished = False
        self._grown = threading.Condition()

    def add(self, event: str, data: Mapping[str, object]) -> None:
        """Appends an event with the next number, from 1."""
        with self._grown:
            self._frames.append(frame(event, data, f"{self.message_id}:{len(self._frames) + 1}"))
            self._grown.notify_all()

    def finish(self) -> None:
        """Nothing will be added any more."""
        with self._grown:
            self._finished = True
            self._grown.notify_all()

    def wait(self, after: int, timeout_s: float) -> tuple[list[str], bool]:
        """The events behind number `after`, as soon as there is one, and whether they are the last;
        no events when the time is over or there will be none."""
        with self._grown:
            self._grown.wait_for(lambda: len(self._frames) > after or self._finished, timeout_s)
            return self._frames[after:], self._finished

    def snapshot(self, producer: str) -> Snapshot:
        """What the log holds now."""
        with self._grown:
            return Snapshot(self.owner, producer, list(self._frames), self._finished)


def frame(event: str, data: Mapping[str, object], id: str = "") -> str:
    """An event as it goes over the wire (JSON has no line breaks, so one data line is enough)."""
    number = f"id: {id}\n" if id else ""
    return f"{number}event: {event}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"
