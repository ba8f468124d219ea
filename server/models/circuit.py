"""Stops asking a model that keeps failing, so that visitors are not kept waiting for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from server.domain.protocols import ModelError


class Circuit:
    """After `failures` in a row, calls fail at once for `pause_s`; then one call tries again.

    While that one is under way the others still fail at once. If it succeeds all is as before; if
    it fails, or never ends, the next try comes after another `pause_s`. With `failures` 0 every
    call is made.
    """

    def __init__(self, failures: int, pause_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._failures = failures
        self._pause_s = pause_s
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._closed_until = 0.0
        self._kind = self._message = ""

    def check(self) -> None:
        """Raises ModelError, of the last failure's kind, when the model is not to be asked now."""
        with self._lock:
            if not self._failures or self._in_a_row < self._failures:
                return
            left = self._closed_until - self._clock()
            if left > 0:
                message = f"{self._message} (failed {self._in_a_row} times; next try in {left:.0f} s)"
                raise ModelError(self._kind, message, permanent=True)
            self._closed_until = self._clock() + self._pause_s

    def pause(self) -> tuple[float, str]:
        """(seconds for which the model is left alone, what it failed with last); (0, "") when it is asked."""
        with self._lock:
            if not self._failures or self._in_a_row < self._failures:
                return 0.0, ""
            return max(0.0, self._closed_until - self._clock()), self._message

    def succeeded(self) -> None:
        with self._lock:
            self._in_a_row = 0

    def failed(self, error: ModelError) -> None:
        with self._lock:
            self._in_a_row += 1
            self._kind, self._message = error.kind, str(error)
            if self._in_a_row >= self._failures:
                self._closed_until = self._clock() + self._pause_s
