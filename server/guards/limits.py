"""Rate limits across all processes, with moving windows stored in a file or in Redis.

The `limits` library counts. This module adds a storage for one machine without Redis: a SQLite file.
"""

from __future__ import annotations

import logging
import math
import os
import sqlite3
import threading
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from time import monotonic

from limits import RateLimitItem, parse
from limits.errors import StorageError
from limits.storage import MovingWindowSupport, RedisStorage

from server.metrics import REFUSALS
from server.storage.shared_cache import LEFT_ALONE_S, RedisServer

log = logging.getLogger(__name__)

CLEAN_EVERY_S = 30.0
"""How often expired windows are removed, in seconds: their keys may be network addresses."""
FILE = "limits.sqlite3"


class LimitsUnavailable(Exception):
    """Calls cannot be counted, and the caller allows none that is not counted."""


class RateLimits:
    """Counts calls by key and reports when there are too many. Thread-safe."""

    def __init__(self, storage: MovingWindowSupport) -> None:
        self._storage = storage
        self._left_alone_until = 0.0

    @classmethod
    def open(cls, redis_url: str, folder: Path) -> RateLimits:
        """Count in Redis if there is an address, otherwise in `folder`."""
        if redis_url:
            pool = RedisServer(redis_url).pool
            return cls(RedisStorage(redis_url, pool, wrap_exceptions=True, key_prefix="docent:limits"))
        return cls(DiskStorage(folder))

    def hit(self, rule: str, key: str, *, strict: bool = False) -> float:
        """Count one call. Return 0 if `rule` (such as "20/minute") allows it, else the seconds to wait.

        Refused calls do not count. If the storage fails, every call is allowed and an error is logged: a
        visitor without an answer would be worse than an answer too many. With `strict`, as for passwords,
        none is allowed. Raises LimitsUnavailable.
        """
        window = _window(rule, key)
        if monotonic() < self._left_alone_until and not strict:
            return 0.0
        try:
            if self._storage.acquire_entry(*window):
                return 0.0
            REFUSALS.count(f"rate_{key.partition(':')[0]}")
            began, _ = self._storage.get_moving_window(*window)
        except StorageError as error:
            self._left_alone_until = monotonic() + LEFT_ALONE_S
            if strict:
                log.error("rate limits are not kept, nobody can sign in: %s", error)
                raise LimitsUnavailable from error
            log.error("rate limits are not kept, everything is allowed: %s", error)
            return 0.0
        return max(began + window[2] - time.time(), 0.001)

    def count(self, rule: str, key: str) -> int:
        """Return the calls within the window of `rule`, without counting one. Raises LimitsUnavailable."""
        try:
            return self._storage.get_moving_window(*_window(rule, key))[1]
        except StorageError as error:
            raise LimitsUnavailable from error

    def run(self, ending: threading.Event) -> None:
        """Remove expired windows until `ending` is set, even if nobody calls. Redis does that by itself."""
        while isinstance(self._storage, DiskStorage) and not ending.is_set():
            try:
                self._storage.clean()
            except self._storage.base_exceptions as error:
                log.warning("expired windows of rate limits are removed later: %s", error)
            ending.wait(CLEAN_EVERY_S)


class DiskStorage(MovingWindowSupport):
    """Windows as rows of a SQLite file, shared by all processes of one machine.

    A window consists of the times of its entries, oldest first, as packed doubles.
    """

    base_exceptions = (sqlite3.Error, OSError)
    """Errors that accessing the file may raise; callers of the two methods below get a StorageError."""
    wrap_exceptions = True

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._pid = 0
        self._connection: sqlite3.Connection | None = None
        self._cleaned_at = 0.0

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Add `amount` entries now unless the window would exceed `limit`. Return whether they were added."""
        now = time.time()
        with self._rows() as rows:
            window = _fresh(_read(rows, key), now - expiry)
            if len(window) + amount > limit:
                return False
            window.extend([now] * amount)
            values = (key, window.tobytes(), now + expiry)
            rows.execute("INSERT OR REPLACE INTO windows VALUES (?, ?, ?)", values)
            if now - self._cleaned_at > CLEAN_EVERY_S:
                self._clean(rows, now)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return the time of the oldest entry in the window, and the number of entries."""
        now = time.time()
        with self._rows() as rows:
            window = _fresh(_read(rows, key), now - expiry)
        return (window[0] if window else now), len(window)

    def clean(self) -> None:
        """Remove every expired window."""
        with self._rows() as rows:
            self._clean(rows, time.time())

    @contextmanager
    def _rows(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction for one thread at a time. All threads share a connection, so that the first
        question of a thread does not wait for a new one."""
        with self._lock:
            if self._connection is None or self._pid != os.getpid():
                # SQLite forbids closing a connection that was inherited over a fork, so it is kept.
                self._inherited = self._connection
                self._connection, self._pid = self._open(), os.getpid()
            with self._connection as rows:  # commits, or rolls back after an exception
                rows.execute("BEGIN IMMEDIATE")
                yield rows

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        made = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
        # Counts need not outlive a power cut, so no commit waits for the disk.
        made.execute("PRAGMA synchronous = OFF")
        # What was deleted is nowhere in the files.
        made.execute("PRAGMA secure_delete = ON")
        made.execute("PRAGMA journal_mode = TRUNCATE")
        made.execute("CREATE TABLE IF NOT EXISTS windows (key TEXT PRIMARY KEY, times BLOB, ends REAL)")
        return made

    def _clean(self, rows: sqlite3.Connection, now: float) -> None:
        self._cleaned_at = now
        rows.execute("DELETE FROM windows WHERE ends <= ?", (now,))


def _read(rows: sqlite3.Connection, key: str) -> bytes:
    """Return the times of a window; b"" if there is none."""
    found = rows.execute("SELECT times FROM windows WHERE key = ?", (key,)).fetchone()
    return found[0] if found else b""


def _window(rule: str, key: str) -> tuple[str, int, int]:
    """Return the key of a window, how many calls it allows, and its length in seconds."""
    item = _rule(rule)
    return item.key_for(key), item.amount, item.get_expiry()


@lru_cache(maxsize=64)
def _rule(rule: str) -> RateLimitItem:
    return parse(rule)


def _fresh(packed: bytes, since: float) -> array[float]:
    window = array("d", packed)
    expired = next((place for place, at in enumerate(window) if at > since), len(window))
    return window[expired:] if expired else window


def allowed_within(rule: str, seconds: float) -> int:
    """Return how many calls a rule such as "120/minute" allows within a time."""
    item = _rule(rule)
    return math.ceil(item.amount * max(1.0, seconds / item.get_expiry()))


def retry_after(seconds: float) -> int:
    """Return whole seconds for the Retry-After header, at least 1."""
    return max(1, math.ceil(seconds))
