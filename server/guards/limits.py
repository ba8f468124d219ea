"""Rate limits over all processes: moving windows, kept in a folder or in Redis.

The `limits` library counts; here stands where, for one machine without Redis: a diskcache folder.
"""

from __future__ import annotations

import logging
import math
import os
import sqlite3
import threading
import time
from array import array
from functools import lru_cache
from pathlib import Path
from typing import Any

from diskcache import Cache, Timeout
from limits import RateLimitItem, parse
from limits.errors import StorageError
from limits.storage import MovingWindowSupport, RedisStorage, Storage
from limits.strategies import MovingWindowRateLimiter

log = logging.getLogger(__name__)

CLEAN_EVERY = 500
"""Entries after which the expired windows are removed."""


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
    """Windows as rows of a diskcache folder, shared by every process of one machine.

    A window is the times of its entries, oldest first, as packed doubles.
    """

    STORAGE_SCHEME = None

    def __init__(self, folder: Path) -> None:
        super().__init__(wrap_exceptions=True)
        self._folder = folder
        self._lock = threading.Lock()
        self._open()

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        """What the folder's failures are."""
        return (sqlite3.Error, Timeout, OSError)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Adds `amount` entries now, unless the window would then hold more than `limit`."""
        with self._held() as cache:
            now = time.time()
            window = _fresh(cache.get(key), now - expiry)
            if len(window) + amount > limit:
                return False
            window.extend([now] * amount)
            cache.set(key, window.tobytes(), expire=expiry)
            self._clean(cache)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Time of the oldest entry within the window, and how many there are."""
        now = time.time()
        with self._held() as cache:
            window = _fresh(cache.get(key), now - expiry)
        return (window[0] if window else now), len(window)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Adds to a plain counter that ends `expiry` seconds after its first entry."""
        with self._held() as cache:
            count, end = cache.get(key, default=None, expire_time=True)
            number = int(count or 0) + amount
            cache.set(key, number, expire=end - time.time() if count is not None else expiry)
            return number

    def get(self, key: str) -> int:
        """Value of a plain counter."""
        with self._held() as cache:
            return int(cache.get(key, default=0))

    def get_expiry(self, key: str) -> float:
        """When a plain counter ends; now, when there is none."""
        with self._held() as cache:
            _, end = cache.get(key, default=None, expire_time=True)
        return float(end or time.time())

    def check(self) -> bool:
        """Whether the folder can be read."""
        with self._held() as cache:
            return bool(cache.get("check", default=True))

    def reset(self) -> int:
        """Forgets every window; says how many there were."""
        with self._held() as cache:
            return int(cache.clear())

    def clear(self, key: str) -> None:
        """Forgets one window."""
        with self._held() as cache:
            cache.delete(key)

    def _open(self) -> None:
        self._pid = os.getpid()
        self._cache = _OneConnection(str(self._folder), timeout=5, size_limit=2**30, cull_limit=0)
        self._until_cleaning = CLEAN_EVERY

    def _clean(self, cache: Cache) -> None:
        # diskcache would look for expired rows at every write, which doubles its cost.
        self._until_cleaning -= 1
        if self._until_cleaning <= 0:
            self._until_cleaning = CLEAN_EVERY
            cache.expire()

    def _held(self) -> _Held:
        if self._pid != os.getpid():
            with self._lock:
                self._open()
        return _Held(self._lock, self._cache)


class _Held:
    """One thread, one process at a time in the folder."""

    def __init__(self, lock: threading.Lock, cache: Cache) -> None:
        self._lock = lock
        self._cache = cache
        self._transaction: Any = None

    def __enter__(self) -> Cache:
        self._lock.acquire()
        try:
            self._transaction = self._cache.transact(retry=False)
            self._transaction.__enter__()
        except BaseException:
            self._lock.release()
            raise
        return self._cache

    def __exit__(self, *error: object) -> None:
        try:
            self._transaction.__exit__(*error)
        finally:
            self._lock.release()


class _OneConnection(Cache):  # type: ignore[misc]
    """diskcache opens a connection per thread, and a web process has hundreds; here all share one,
    in turns (`_Held`), so that a thread's first question does not pay for opening it."""

    @property
    def _con(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = self.__dict__.get("_shared")
        if found is None:
            path = Path(self.directory) / "cache.db"
            found = self.__dict__["_shared"] = sqlite3.connect(
                path, timeout=self.timeout, isolation_level=None, check_same_thread=False
            )
            # Counts need not outlive a power cut, so no commit waits for the disk.
            found.execute("PRAGMA synchronous = OFF")
        return found

    def close(self) -> None:
        connection = self.__dict__.pop("_shared", None)
        if connection is not None:
            connection.close()


@lru_cache(maxsize=64)
def _rule(rule: str) -> RateLimitItem:
    return parse(rule)


def _fresh(packed: bytes | None, since: float) -> array[float]:
    window = array("d")
    if packed:
        window.frombytes(packed)
    expired = next((place for place, at in enumerate(window) if at > since), len(window))
    return window[expired:] if expired else window


def retry_after(seconds: float) -> int:
    """Whole seconds for the Retry-After header, never 0."""
    return max(1, math.ceil(seconds))
