"""Rate limits over all processes: moving windows, kept in a file or in Redis.

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

from limits import RateLimitItem, parse
from limits.errors import StorageError
from limits.storage import MovingWindowSupport, RedisStorage, Storage
from limits.strategies import MovingWindowRateLimiter

log = logging.getLogger(__name__)

CLEAN_EVERY = 500
"""Entries after which the expired windows are removed."""
FILE = "limits.sqlite3"


class RateLimits:
    """Counts what is done under a key and says when it was too much. For any number of threads."""

    def __init__(self, storage: Storage) -> None:
        self._limiter = MovingWindowRateLimiter(storage)

    @classmethod
    def open(cls, redis_url: str, folder: Path) -> RateLimits:
        """Counts in Redis if there is an address, otherwise in `folder`."""
        if redis_url:
            redis: Storage = RedisStorage(redis_url, wrap_exceptions=True, key_prefix="docent:limits")
            return cls(redis)
        return cls(DiskStorage(folder))

    def hit(self, rule: str, key: str) -> float:
        """Counts one; 0 when `rule` (such as "20/minute") allows it, else the seconds until it will.

        What is refused does not count. When the counts cannot be reached everything is allowed, with an
        error in the log: a visitor without an answer would be worse than one answer too many.
        """
        item = _rule(rule)
        try:
            if self._limiter.hit(item, key):
                return 0.0
            reset = self._limiter.get_window_stats(item, key).reset_time
        except StorageError as error:
            log.error("rate limits are not kept, everything is allowed: %s", error)
            return 0.0
        return max(reset - time.time(), 0.001)


class DiskStorage(Storage, MovingWindowSupport):
    """Windows as rows of one SQLite file, shared by every process of one machine.

    A window is the times of its entries, oldest first, as packed doubles.
    """

    STORAGE_SCHEME = None

    def __init__(self, folder: Path) -> None:
        super().__init__(wrap_exceptions=True)
        self._path = folder / FILE
        self._lock = threading.Lock()
        self._pid = 0
        self._connection: sqlite3.Connection | None = None
        self._until_cleaning = CLEAN_EVERY

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        """The failures of the file."""
        return (sqlite3.Error, OSError)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Add `amount` entries now, unless the window would then hold more than `limit`."""
        now = time.time()
        with self._rows() as rows:
            window = _fresh(_read(rows, key)[0], now - expiry)
            if len(window) + amount > limit:
                return False
            window.extend([now] * amount)
            _write(rows, key, window, now + expiry)
            self._clean(rows, now)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Time of the oldest entry within the window, and how many there are."""
        now = time.time()
        with self._rows() as rows:
            window = _fresh(_read(rows, key)[0], now - expiry)
        return (window[0] if window else now), len(window)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Add to a plain counter that ends `expiry` seconds after its first entry."""
        now = time.time()
        with self._rows() as rows:
            packed, ends = _read(rows, key)
            window = _fresh(packed if ends > now else b"", 0)
            end = ends if window else now + expiry
            window.extend([now] * amount)
            _write(rows, key, window, end)
            return len(window)

    def get(self, key: str) -> int:
        """Value of a plain counter."""
        with self._rows() as rows:
            packed, ends = _read(rows, key)
        return len(_fresh(packed, 0)) if ends > time.time() else 0

    def get_expiry(self, key: str) -> float:
        """When a plain counter ends; now, when there is none."""
        with self._rows() as rows:
            return _read(rows, key)[1] or time.time()

    def check(self) -> bool:
        """Whether the file can be read."""
        with self._rows() as rows:
            _read(rows, "check")
        return True

    def reset(self) -> int:
        """Forget every window; return how many there were."""
        with self._rows() as rows:
            return rows.execute("DELETE FROM windows").rowcount

    def clear(self, key: str) -> None:
        """Forget one window."""
        with self._rows() as rows:
            rows.execute("DELETE FROM windows WHERE key = ?", (key,))

    @contextmanager
    def _rows(self) -> Iterator[sqlite3.Connection]:
        """One thread of one process at a time. All threads share a connection, so that the first question of
        a thread does not wait for a new one."""
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
        made.execute("PRAGMA journal_mode = PERSIST")
        made.execute("CREATE TABLE IF NOT EXISTS windows (key TEXT PRIMARY KEY, times BLOB, ends REAL)")
        return made

    def _clean(self, rows: sqlite3.Connection, now: float) -> None:
        self._until_cleaning -= 1
        if self._until_cleaning <= 0:
            self._until_cleaning = CLEAN_EVERY
            rows.execute("DELETE FROM windows WHERE ends <= ?", (now,))


def _read(rows: sqlite3.Connection, key: str) -> tuple[bytes, float]:
    """(times, when they end) of a window; (b"", 0) where there is none."""
    found = rows.execute("SELECT times, ends FROM windows WHERE key = ?", (key,)).fetchone()
    return found or (b"", 0.0)


def _write(rows: sqlite3.Connection, key: str, window: array[float], ends: float) -> None:
    rows.execute("INSERT OR REPLACE INTO windows VALUES (?, ?, ?)", (key, window.tobytes(), ends))


@lru_cache(maxsize=64)
def _rule(rule: str) -> RateLimitItem:
    return parse(rule)


def _fresh(packed: bytes, since: float) -> array[float]:
    window = array("d", packed)
    expired = next((place for place, at in enumerate(window) if at > since), len(window))
    return window[expired:] if expired else window


def retry_after(seconds: float) -> int:
    """Whole seconds for the Retry-After header, never 0."""
    return max(1, math.ceil(seconds))
