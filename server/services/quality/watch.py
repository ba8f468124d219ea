"""Keeps a piece of quality work in touch with the installation while it runs: it says that it lives, how far
it is, and learns that it is to end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from server.domain.derived import BuildStopped
from server.domain.spending import Used
from server.storage.errors import StorageError

log = logging.getLogger(__name__)

EVERY_S = 1.0
QUIT, LOST, ASKED = "quit", "lost", "asked"


class Watch:
    """Implements Monitor. `reason` says why the work shall end: QUIT (this process ends), LOST (it is
    somebody else's now, or was deleted) or ASKED (by its operator)."""

    def __init__(
        self, tell: Callable[[str, int, int], bool], is_asked: Callable[[], bool], ending: threading.Event
    ) -> None:
        """`tell` says that the work goes on, with name, done and total of its step; false when it is lost."""
        self._tell = tell
        self._is_asked = is_asked
        self._ending = ending
        self._over = threading.Event()
        self._step = ("", 0, 0)
        self._thread = threading.Thread(target=self._run, name="quality-watch", daemon=True)
        self.used = Used()
        self.reason = ""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join(timeout=5)

    def step(self, name: str, done: int, total: int) -> None:
        """As Monitor."""
        self._step = (name, done, total)
        if self._ending.is_set() and not self.reason:
            self.reason = QUIT
        if self.reason:
            raise BuildStopped(f"ended at {name}, {done} of {total}")

    def spent(self, used: Used) -> None:
        """As Monitor."""
        self.used = self.used.plus(used)

    def _run(self) -> None:
        while not self._over.wait(EVERY_S):
            try:
                if not self._tell(*self._step):
                    self.reason = self.reason or LOST
                elif self._is_asked():
                    self.reason = self.reason or ASKED
            except StorageError as error:
                log.warning("quality work cannot say that it lives: %s", error)
