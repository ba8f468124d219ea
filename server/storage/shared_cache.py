"""Stores small values shared by all processes of an installation, in a folder on disk or in Redis."""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from diskcache import Cache, Disk, Timeout
from diskcache.core import MODE_PICKLE, UNKNOWN
from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, OutOfMemoryError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeout
from redis.retry import Retry

from server.storage.columns import storable
from server.storage.errors import StorageError, StorageUnavailable

Result = TypeVar("Result")

log = logging.getLogger(__name__)

LOCK_WAIT_S = 10
SIZE_LIMIT = 256 * 2**20


class PlainDisk(Disk):  # type: ignore[misc]  # diskcache has no types
    """Texts and numbers only: pickles, which run code when they are read, are neither written nor read."""

    def put(self, key: Any) -> tuple[Any, bool]:
        """Return `key` as it is stored. Raises TypeError."""
        _check_plain(key)
        return super().put(key)  # type: ignore[no-any-return]

    def get(self, key: Any, raw: bool) -> Any:
        """Return a stored key. Raises OSError."""
        if not raw:
            raise OSError("a pickled key is not read")
        return super().get(key, raw)

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Any:
        """Return how `value` is stored. Raises TypeError."""
        _check_plain(value)
        return super().store(value, read, key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Return a stored value. Raises OSError, which the cache takes for an absent value."""
        if mode == MODE_PICKLE:
            raise OSError("a pickled value is not read")
        return super().fetch(mode, filename, value, read)


def _check_plain(value: Any) -> None:
    if not isinstance(value, str | int | float | bytes):
        raise TypeError(f"{type(value).__name__} is neither text nor number")


class DiskFolder:
    """Runs work on a diskcache folder in a single thread.

    diskcache opens a connection and files for every calling thread. With the hundreds of threads of
    a web process, that would exceed the limit of open files, and writers would poll for each other's
    lock. Raises StorageError.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._open()
        self.run(lambda cache: None)

    def run(self, work: Callable[[Cache], Result]) -> Result:
        """Run `work` and return its result. It must be short, because calls run one after another."""
        if self._pid != os.getpid():
            self._open()
        try:
            return self._thread.submit(self._work, work).result()
        except Timeout as error:
            raise StorageError(
                f"{self.folder} was kept busy by another process: look for one that hangs"
            ) from error
        except (sqlite3.Error, OSError) as error:
            raise StorageError(self._explain(error)) from error

    @classmethod
    def scrub(cls, folder: Path) -> None:
        """Remove expired values, and deleted ones from the write-ahead log. Raises StorageError."""
        opened = cls(folder)
        opened.run(lambda cache: cache.expire())
        opened.close()
        try:
            with closing(sqlite3.connect(folder / "cache.db", timeout=1)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise StorageError(opened._explain(error)) from error

    def close(self) -> None:
        """End the thread and close its connection."""
        self._thread.submit(self._close_cache).result()
        self._thread.shutdown()

    def _open(self) -> None:
        # A forked child has the parent's executor without its thread, so it starts a new one.
        self._pid = os.getpid()
        self._cache: Cache | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"disk-{self.folder.name}")

    def _work(self, work: Callable[[Cache], Result]) -> Result:
        if self._cache is None:
            self._cache = Cache(
                str(self.folder),
                disk=PlainDisk,
                timeout=LOCK_WAIT_S,
                size_limit=SIZE_LIMIT,
                sqlite_secure_delete=1,  # values may be texts of visitors who are erased
            )
        return work(self._cache)

    def _close_cache(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _explain(self, error: Any) -> str:
        reason = str(error).lower()
        if "malformed" in reason or "not a database" in reason:
            return f"{self.folder} is damaged: delete it and start again; only short-lived values are lost"
        if "full" in reason or "no space" in reason:
            return f"{self.folder} cannot grow, the disk is full: free some space"
        return f"{self.folder} cannot be used ({error}): check that this user may write to it"


def stream_key(message_id: str) -> str:
    """Key of the copy of an answer's events in the shared cache."""
    return f"stream:{message_id}"


CONNECTIONS = 32
"""Maximum number of connections per process. Threads wait for one instead of opening hundreds."""
LEFT_ALONE_S = 2.0
"""Seconds for which a Redis server that did not answer is not asked again: each try may take seconds, and
visitors wait for it."""


class RedisServer:
    """A pool of connections, opened on first use. Raises StorageError."""

    def __init__(self, url: str) -> None:
        self._left_alone_until = 0.0
        try:
            parts = urlsplit(url)
            self.place = f"Redis at {parts.hostname or parts.path or 'localhost'}:{parts.port or 6379}"
            self.pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=20,
                decode_responses=True,
                encoding_errors="replace",
                socket_timeout=2,
                socket_connect_timeout=2,
                health_check_interval=30,
                # Visitors wait for this, so a lost connection is retried only briefly.
                retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), retries=2),
            )
        except ValueError:  # whose message may hold a part of the password
            raise StorageError("REDIS_URL is not an address: write redis://host:6379/0") from None
        self._client = Redis(connection_pool=self.pool)

    @contextmanager
    def client(self) -> Iterator[Redis]:
        """Yield the client, and turn Redis errors into a StorageError with a message of one line."""
        if monotonic() < self._left_alone_until:
            raise StorageUnavailable(f"{self.place} did not answer a moment ago")
        try:
            yield self._client
        except (RedisConnectionError, RedisTimeout) as error:
            self._left_alone_until = monotonic() + LEFT_ALONE_S
            raise StorageUnavailable(self._explain(error)) from error
        except RedisError as error:
            raise StorageError(self._explain(error)) from error

    def close(self) -> None:
        """Close every connection. Using it again opens new ones."""
        self._client.connection_pool.disconnect()

    def _explain(self, error: RedisError) -> str:
        reason = " ".join(str(error).split())
        if isinstance(error, AuthenticationError):
            return f"{self.place} refuses the password ({reason}): check REDIS_URL"
        if isinstance(error, OutOfMemoryError):
            return f"{self.place} is full: raise its maxmemory, or set a maxmemory-policy"
        return f"{self.place} does not answer ({reason}): check REDIS_URL and that the server runs"


class DiskSharedCache:
    """Implements Cache in a folder, for all processes of one machine."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = DiskFolder(folder)

    def get(self, key: str) -> str | None:
        """Return the value, or None if it is absent or expired."""
        value: str | None = self._folder.run(lambda cache: cache.get(storable(key)))
        return value

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Store or replace a value."""
        self._folder.run(lambda cache: cache.set(storable(key), storable(value), expire=ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Store the value if the key is absent or expired. Return whether it was stored."""
        return bool(self._folder.run(lambda cache: cache.add(storable(key), storable(value), expire=ttl_s)))

    def delete(self, key: str) -> None:
        """Remove the value. An absent one is ignored."""
        self._folder.run(lambda cache: cache.delete(storable(key)))

    def close(self) -> None:
        """Close the folder."""
        self._folder.close()


class RedisSharedCache:
    """Implements Cache in Redis, for any number of machines."""

    def __init__(self, url: str) -> None:
        self._server = RedisServer(url)

    def get(self, key: str) -> str | None:
        """Return the value, or None if it is absent or expired."""
        with self._server.client() as client:
            value = client.get(_key(key))
        return None if value is None else str(value)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Store or replace a value."""
        with self._server.client() as client:
            client.set(_key(key), storable(value), px=_milliseconds(ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Store the value if the key is absent or expired. Return whether it was stored."""
        with self._server.client() as client:
            return bool(client.set(_key(key), storable(value), px=_milliseconds(ttl_s), nx=True))

    def delete(self, key: str) -> None:
        """Remove the value. An absent one is ignored."""
        with self._server.client() as client:
            client.delete(_key(key))

    def close(self) -> None:
        """Close every connection."""
        self._server.close()


SharedCache = DiskSharedCache | RedisSharedCache


class OptionalCache:
    """Implements Cache for values that can be missed: while `cache` does not answer, nothing is found and
    nothing is stored, so that visitors get their answers all the same."""

    def __init__(self, cache: SharedCache) -> None:
        self._cache = cache

    def get(self, key: str) -> str | None:
        """Return the value, or None if it is absent, expired or out of reach."""
        return self._tried(lambda: self._cache.get(key), None)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Store or replace a value."""
        self._tried(lambda: self._cache.set(key, value, ttl_s), None)

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Store the value if the key is absent or expired. Return whether it was stored."""
        return self._tried(lambda: self._cache.add(key, value, ttl_s), False)

    def delete(self, key: str) -> None:
        """Remove the value. An absent one is ignored."""
        self._tried(lambda: self._cache.delete(key), None)

    def _tried(self, work: Callable[[], Result], otherwise: Result) -> Result:
        try:
            return work()
        except StorageError as error:
            log.warning("served without the shared cache: %s", error)
            return otherwise


def _key(key: str) -> str:
    return f"docent:cache:{storable(key)}"


def _milliseconds(seconds: float) -> int:
    # Redis refuses a time to live of 0; one millisecond has the same effect.
    return max(1, round(seconds * 1000))
