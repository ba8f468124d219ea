"""How often a host gets a request, and how many it gets at once.

The pace never exceeds what the options and robots.txt allow. It drops when a host is overloaded, and it
returns to normal within ten good answers. Each host has a pace of its own, so a slow host does not delay
the others. A thread uses it like this:

    with pacer.slot(url) as may_ask:      # waits for its turn; False after the crawl was stopped
        ...
        pacer.went_well(url)              # or overloaded(url, pause_s), or not_answered(url)

A fault of one address (a reset connection, a broken body, status 500) is reported to nobody here: it says
nothing about the host.

Where several processes ask the same hosts, HostTurns gives out the turns of all of them, and an overload that
one of them meets slows each of them down.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from crawler.discovery import urls
from crawler.errors import FetchError
from crawler.fetching.fetcher import Fetcher, HttpResponse, Validators, Wanted
from crawler.fetching.retry_after import retry_after_s
from crawler.options import CrawlOptions

_FIRST_SLOWDOWN_S = 0.5
_SLOWEST_S = 30.0
_ANSWERS_TO_RECOVER = 10
_SILENT_ADDRESSES = 3
"""Different addresses without an answer, and no good answer in between, that mean the host is overloaded."""
_POLL_S = 0.25
_LOOK_S = 1.0
"""How soon a process hears of what others were told by a host."""


class HostTurns(Protocol):
    """The pace of hosts, for all processes that ask them. Each call is atomic."""

    def turn(self, host: str, delay_s: float) -> tuple[float, int]:
        """Return the seconds until the host may be asked, and how many overloads were reported of it so far.
        At 0 seconds the turn is taken: the next one comes `delay_s` later."""

    def hold(self, host: str, seconds: float, *, overloaded: bool = False) -> int:
        """Give no turn for that long; return how many overloads were reported, this one included."""


class _Host:
    """The pace of one host. Every method needs the lock `changed`, which also signals freed slots."""

    def __init__(self, name: str, delay_s: float, most: int) -> None:
        self.name = name
        self.turn = threading.Lock()
        """Held by the thread that waits for the turn among all processes."""
        self.look_again = 0.0
        self._overloads: int | None = None
        self.changed = threading.Condition()
        self.least = delay_s
        self.delay = delay_s
        self.next = 0.0
        self.most = most
        self.allowed = most
        """Requests at once at present; from 1 to `most`."""
        self.under_way = 0
        self._slowed = 0.0
        self._delay_step = 0.0
        self._allowed_step = 0
        self._silent: set[str] = set()
        self._complaints: set[str] = set()
        """Addresses that reported an overload since the pace was last normal."""

    def at_least(self, delay_s: float) -> None:
        self.least = max(self.least, delay_s)
        self.delay = max(self.delay, self.least)

    def pause(self, needs_slot: bool) -> float:
        """Return the seconds until the next request, or 0 after counting it as sent."""
        if needs_slot and self.under_way >= self.allowed:
            return _POLL_S
        now = time.monotonic()
        if now < self.next:
            return self.next - now
        self.next = max(now, self.next) + self.delay
        self.under_way += needs_slot
        return 0.0

    def overloaded(self, url: str, pause_s: float) -> bool:
        """Return whether this slowed the host further."""
        now = time.monotonic()
        self.next = max(self.next, now + pause_s)
        if now < self._slowed or url in self._complaints:
            return False  # requests sent together, or one address again and again, are one complaint
        self._complaints.add(url)
        self._slowed = now + min(pause_s, _FIRST_SLOWDOWN_S)
        self.delay = max(self.least, min(_SLOWEST_S, max(self.delay * 2, _FIRST_SLOWDOWN_S)))
        self.allowed = max(1, self.allowed // 2)
        self._delay_step = (self.delay - self.least) / _ANSWERS_TO_RECOVER
        self._allowed_step = math.ceil((self.most - self.allowed) / _ANSWERS_TO_RECOVER)
        return True

    def not_answered(self, url: str, pause_s: float) -> bool:
        """Return whether this slowed the host."""
        self._silent.add(url)
        if len(self._silent) < _SILENT_ADDRESSES:
            return False
        self._silent.clear()
        return self.overloaded(url, pause_s)

    def heard(self, overloads: int, *, own: bool = False) -> None:
        """Slow down for overloads that other processes met since this was called last."""
        if not own and self._overloads is not None and overloads > self._overloads:
            self.overloaded(f"elsewhere {overloads}", 0.0)
        self._overloads = overloads

    def shared_by(self, most: int) -> None:
        self.most = most
        self.allowed = min(self.allowed, most)
        self.changed.notify_all()

    def went_well(self) -> None:
        self._silent.clear()
        if self.delay > self.least:
            self.delay -= self._delay_step
            if self.delay - self.least < 0.001:
                self.delay = self.least
        self.allowed = min(self.most, self.allowed + self._allowed_step)
        if self.delay <= self.least and self.allowed == self.most:
            self._complaints.clear()


class Pacer:
    """The pace of every host of one crawl. Safe to use from many threads."""

    def __init__(
        self,
        delay_s: float,
        stop: threading.Event,
        host_concurrency: int = 8,
        turns: HostTurns | None = None,
    ) -> None:
        """`turns` are those of all processes; None when no other asks the same hosts."""
        self._turns = turns
        self._delay = delay_s
        self._in_all = self._most = host_concurrency
        self._stop = stop
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    def at_least(self, delay_s: float, url: str = "") -> None:
        """Raise the delay between two requests to what the host's robots.txt asks for."""
        host = self._host(url)
        with host.changed:
            host.at_least(delay_s)

    @contextmanager
    def slot(self, url: str) -> Iterator[bool]:
        """Wait for a turn and a free slot at the host of `url`; give False after the crawl was stopped."""
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
            if self._turns is not None and host.delay:
                # A request may have been long on its way: the next one keeps its distance from the answer.
                self._turns.hold(host.name, host.delay)

    def wait(self, url: str = "", *, due: float = math.inf) -> bool:
        """Wait for a turn, however many requests are under way. Return False after the crawl was stopped, and
        at once if the turn comes after `due`, a time of time.monotonic()."""
        return self._wait(self._host(url), needs_slot=False, due=due)

    def rest(self, seconds: float) -> None:
        """Pause this thread alone; ends early when the crawl is stopped."""
        self._stop.wait(seconds)

    def overloaded(self, url: str, pause_s: float) -> None:
        """Slow the host down: no request for `pause_s`, then half as many at once, half as often.

        A further complaint of the same address only prolongs the pause.
        """
        host = self._host(url)
        with host.changed:
            slowed = host.overloaded(url, pause_s)
        self._report(host, pause_s, overloaded=slowed)

    def not_answered(self, url: str, pause_s: float) -> None:
        """Note that `url` brought no answer in time. Only several such addresses in a row slow the host."""
        host = self._host(url)
        with host.changed:
            slowed = host.not_answered(url, pause_s)
        if slowed:
            self._report(host, pause_s, overloaded=True)

    def went_well(self, url: str) -> None:
        """Note a good answer: ten of them bring the host back to its normal pace."""
        host = self._host(url)
        with host.changed:
            host.went_well()
            host.changed.notify()

    def _wait(self, host: _Host, *, needs_slot: bool, due: float = math.inf) -> bool:
        while not self._stop.is_set():
            with host.changed:
                if max(host.next, time.monotonic()) > due:
                    return False
                pause = host.pause(needs_slot)
                if pause <= 0:
                    break
                if needs_slot and host.under_way >= host.allowed:
                    host.changed.wait(pause)  # for a slot; looks at `stop` now and then
                    continue
            self._stop.wait(pause)
        else:
            return False
        if self._turn_of_all(host):
            return True
        with host.changed:
            host.under_way -= needs_slot
        return False

    def _turn_of_all(self, host: _Host) -> bool:
        """Wait for the turn among all processes; False after the crawl was stopped."""
        if self._turns is None:
            return True
        with host.turn:
            while not self._stop.is_set():
                if not host.delay and time.monotonic() < host.look_again:
                    return True
                pause, overloads = self._turns.turn(host.name, host.delay)
                host.look_again = time.monotonic() + _LOOK_S
                with host.changed:
                    host.heard(overloads)
                if pause <= 0:
                    return True
                self._stop.wait(min(pause, _LOOK_S))
        return False

    def _report(self, host: _Host, pause_s: float, *, overloaded: bool) -> None:
        if self._turns is not None:
            overloads = self._turns.hold(host.name, pause_s, overloaded=overloaded)
            with host.changed:
                host.heard(overloads, own=True)

    def shared_by(self, processes: int) -> None:
        """Leave room for the requests of the other processes that visit the same hosts."""
        most = max(1, self._in_all // max(1, processes))
        if most == self._most:
            return
        self._most = most
        for host in list(self._hosts.values()):
            with host.changed:
                host.shared_by(most)

    def _host(self, url: str) -> _Host:
        key = urls.site_key(url)
        host = self._hosts.get(key)
        if host is None:
            with self._lock:
                host = self._hosts.setdefault(key, _Host(key, self._delay, self._most))
        return host


OVERLOADED = frozenset({429, 503})
_NO_ANSWER_BEHIND = frozenset({502, 504})
_SILENCE = frozenset({"timeout", "unreachable"})
_FIRST_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class RetryingFetcher:
    """Fetches at the pace of the host. Safe to use from many threads."""

    _options: CrawlOptions
    _fetcher: Fetcher
    _pacer: Pacer

    def get(
        self, url: str, validators: Validators | None = None, *, wanted: Wanted | None = None
    ) -> HttpResponse:
        """Return the first good answer, or the last one after all tries. Raises FetchError."""
        tries = self._options.retries
        for attempt in range(tries + 1):
            is_last = attempt == tries
            pause = _FIRST_PAUSE_S * 2**attempt
            try:
                reply = self._asked(url, validators, wanted)
            except FetchError as error:
                if error.kind in _SILENCE:
                    self._pacer.not_answered(url, pause)
                if is_last or not error.retry:
                    raise
                self._pacer.rest(pause)
                continue
            if reply.status in OVERLOADED:
                wait = retry_after_s(reply.headers.get("retry-after", ""))
                asked = pause if wait is None else wait
                too_long = asked > self._options.max_wait_s
                self._pacer.overloaded(url, 0.0 if too_long else asked)
                if is_last or too_long:
                    return reply
                continue
            if reply.status in _NO_ANSWER_BEHIND:
                self._pacer.not_answered(url, pause)
            elif reply.status != 500:
                self._pacer.went_well(url)
                return reply
            if is_last:
                return reply
            self._pacer.rest(pause)
        raise AssertionError("unreachable: the last try returns or raises")

    def _asked(self, url: str, validators: Validators | None, wanted: Wanted | None) -> HttpResponse:
        with self._pacer.slot(url) as may_ask:
            if not may_ask:
                raise FetchError("stopped", "the crawl was stopped")
            return self._fetcher.get(url, validators, wanted=wanted)
