"""How often a host is asked, and by how many at once: never more than allowed, less when it is overworked.

Each host has its own pace: a slow one does not hold back the others. A thread asks like this:

    with pacer.slot(url) as may_ask:      # waits for its turn; False when the crawl was stopped
        ...
        pacer.went_well(url)              # or slow_down(pause_s, url)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from crawler import urls

_FIRST_SLOWDOWN_S = 0.5
_SLOWEST_S = 30.0
_RECOVERY = 0.8
_SUCCESSES_FOR_ONE_MORE = 10
_POLL_S = 0.25


class _Host:
    """The pace of one host. Used under its lock, which also tells of slots given back."""

    def __init__(self, delay_s: float, most: int) -> None:
        self.changed = threading.Condition()
        self.least = delay_s
        self.delay = delay_s
        self.next = 0.0
        self.most = most
        self.allowed = most
        """Requests at once, now; from 1 to `most`."""
        self.under_way = 0
        self.successes = 0
        self.slowed = 0.0

    def at_least(self, delay_s: float) -> None:
        self.least = max(self.least, delay_s)
        self.delay = max(self.delay, self.least)

    def pause(self, needs_slot: bool) -> float:
        """Seconds until one may ask; 0 when one may, and then it counts as asked."""
        if needs_slot and self.under_way >= self.allowed:
            return _POLL_S
        now = time.monotonic()
        if now < self.next:
            return self.next - now
        self.next = max(now, self.next) + self.delay
        self.under_way += needs_slot
        return 0.0

    def slow_down(self, pause_s: float) -> None:
        now = time.monotonic()
        self.next = max(self.next, now + pause_s)
        self.successes = 0
        if now < self.slowed:
            return  # the requests that were under way together are one complaint, not eight
        self.slowed = now + min(pause_s, _FIRST_SLOWDOWN_S)
        self.delay = min(_SLOWEST_S, max(self.delay * 2, _FIRST_SLOWDOWN_S))
        self.delay = max(self.delay, self.least)
        self.allowed = max(1, self.allowed // 2)

    def went_well(self) -> None:
        if self.delay > self.least:
            self.delay = max(self.least, self.delay * _RECOVERY)
            if self.delay - self.least < 0.01:
                self.delay = self.least
        self.successes += 1
        if self.successes >= _SUCCESSES_FOR_ONE_MORE and self.allowed < self.most:
            self.allowed += 1
            self.successes = 0


class Pacer:
    """One per crawl. Safe to use from many threads."""

    def __init__(self, delay_s: float, stop: threading.Event, host_concurrency: int = 8) -> None:
        self._delay = delay_s
        self._most = host_concurrency
        self._stop = stop
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    def at_least(self, delay_s: float, url: str = "") -> None:
        """The host's robots.txt asked for this much between two requests."""
        host = self._host(url)
        with host.changed:
            host.at_least(delay_s)

    @contextmanager
    def slot(self, url: str) -> Iterator[bool]:
        """One request to the host, in its turn and counted among those at once; False when stopped."""
        host = self._host(url)
        if not self._wait(host, needs_slot=True):
            yield False
            return
        try:
            yield True
        finally:
            with host.changed:
                host.under_way -= 1
                host.changed.notify()

    def wait(self, url: str = "") -> bool:
        """Returns when a request may be sent, however many are under way; False when stopped."""
        return self._wait(self._host(url), needs_slot=False)

    def slow_down(self, pause_s: float, url: str = "") -> None:
        """The host asked for a pause, or did not answer: nobody asks it anything until then, and then
        half as many at once, and less often."""
        host = self._host(url)
        with host.changed:
            host.slow_down(pause_s)

    def went_well(self, url: str = "") -> None:
        """Back towards the chosen pace, little by little."""
        host = self._host(url)
        with host.changed:
            host.went_well()
            host.changed.notify()

    def allowed_at_once(self, url: str) -> int:
        """Requests that the host may have under way now."""
        return self._host(url).allowed

    def _wait(self, host: _Host, *, needs_slot: bool) -> bool:
        while not self._stop.is_set():
            with host.changed:
                pause = host.pause(needs_slot)
                if pause <= 0:
                    return True
                if needs_slot and host.under_way >= host.allowed:
                    host.changed.wait(pause)  # for a slot; looks at `stop` now and then
                    continue
            self._stop.wait(pause)
        return False

    def _host(self, url: str) -> _Host:
        key = urls.site_key(url)
        host = self._hosts.get(key)
        if host is None:
            with self._lock:
                host = self._hosts.setdefault(key, _Host(self._delay, self._most))
        return host


def retry_after_s(value: str, default: float) -> float:
    """Seconds that a Retry-After header asks for: a number or a date."""
    text = value.strip()
    if text.isdigit() and text.isascii():
        return float(text[:12])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return default
