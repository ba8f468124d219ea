"""A progress bar in one line of a terminal; elsewhere a line for every tenth."""

from __future__ import annotations

import time
from typing import TextIO

from server.domain.derived import BuildStopped
from server.domain.spending import Used

WIDTH = 24
EVERY_S = 0.1


class Progress:
    """Implements Monitor."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._name = ""
        self._tenth = -1
        self._shown_at = 0.0
        self._used = Used()
        self._stopped = False

    def stop(self) -> None:
        """The next step raises BuildStopped."""
        self._stopped = True

    def step(self, name: str, done: int, total: int) -> None:
        """Shows it."""
        if self._stopped:
            raise BuildStopped(f"stopped at {name}: {done} of {total}")
        is_new = name != self._name
        if is_new:
            self.close()
            self._name, self._tenth = name, -1
        tenth = 10 * done // total if total else 10
        if self._is_terminal:
            now = time.monotonic()
            if is_new or done >= total or now - self._shown_at >= EVERY_S:
                self._shown_at = now
                filled = WIDTH * min(done, total) // total if total else WIDTH
                bar = "█" * filled + "░" * (WIDTH - filled)
                self._out.write(f"\r\x1b[K{bar} {done} of {total} {name}{self._spent()}")
                self._out.flush()
        elif tenth > self._tenth:
            self._out.write(f"{name}: {done} of {total}{self._spent()}\n")
            self._out.flush()
        self._tenth = max(self._tenth, tenth)

    def spent(self, used: Used) -> None:
        """Counts what one call of a model took."""
        self._used = self._used.plus(used)

    def close(self) -> None:
        """Ends the line that stands there."""
        if self._is_terminal and self._name:
            self._out.write("\n")
            self._out.flush()
        self._name = ""

    def _spent(self) -> str:
        if not self._used.calls:
            return ""
        money = f", {self._used.cost:.2f}" if self._used.cost else ""
        return f" ({self._used.calls} calls, {self._used.tokens} tokens{money})"
