"""How often a host is asked: never faster than allowed, slower when it says it is overworked."""

from __future__ import annotations

import threading
import time
from email.utils import parsedate_to_datetime

_FIRST_SLOWDOWN_S = 0.5
_SLOWEST_S = 30.0
_RECOVERY = 0.8


class Pacer:
    """One per crawl. Threads call `wait` before each request."""

    def __init__(self, delay_s: float, stop: threading.Event) -> None:
        self._least = delay_s
        self._delay = delay_s
        self._next = 0.0
        self._stop = stop
        self._lock = threading.Lock()

    def at_least(self, delay_s: float) -> None:
        """robots.txt asked for this much between two requests."""
        with self._lock:
            self._least = max(self._least, delay_s)
            self._delay = max(self._delay, self._least)

    def wait(self) -> bool:
        """Returns when a request may be sent; False when the crawl was stopped meanwhile."""
        while not self._stop.is_set():
            with self._lock:
                now = time.monotonic()
                if now >= self._next:
                    self._next = max(now, self._next) + self._delay
                    return True
                pause = self._next - now
            self._stop.wait(pause)
        return False

    def slow_down(self, pause_s: float) -> None:
        """The host asked for a pause: nobody asks it anything until then, and then less often."""
        with self._lock:
            self._delay = min(_SLOWEST_S, max(self._delay * 2, _FIRST_SLOWDOWN_S))
            self._next = max(self._next, time.monotonic() + pause_s)

    def went_well(self) -> None:
        """Back towards the chosen pace, little by little."""
        with self._lock:
            if self._delay > self._least:
                self._delay = max(self._least, self._delay * _RECOVERY)
                if self._delay - self._least < 0.01:
                    self._delay = self._least


def retry_after_s(value: str, default: float) -> float:
    """Seconds that a Retry-After header asks for: a number or a date."""
    text = value.strip()
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return default
