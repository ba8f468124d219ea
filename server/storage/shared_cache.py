"""Small values that every process of an installation shares, in a folder on disk or in Redis."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from diskcache import Cache, Timeout
from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, OutOfMemoryError, RedisError
from redis.retry import Retry

from server.storage.columns import storable
from server.storage.errors import StorageError

Result = TypeVar("Result")

LOCK_WAIT_S = 10


class DiskFolder:
    """Runs work on a diskcache folder, on one thread of its own.

    diskcache opens a connection and its files for every thread that calls it: with the hundreds of
    threads of a web process that would use up the open files of the process, and their writes would
    poll for each other's lock. Raises StorageError.
    """

    def __init__(self, folder: str | Path, megabytes: int) -> None:
        self.folder = Path(folder)
        self._size_limit = megabytes * 2**20
        self._open()
        self.run(lambda cache: None)

    def run(self, work: Callable[[Cache], Result]) -> Result:
        """Run `work` and return its result. It must be short: one piece of work runs at a time."""
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

    def close(self) -> None:
        """Ends the thread and its connection."""
        self._thread.submit(self._close_cache).result()
        self._thread.shutdown()

    def _open(self) -> None:
        # A forked child has the parent's executor without its thread: it starts one of its own.
        self._pid = os.getpid()
        self._cache: Cache | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"disk-{self.folder.name}")

    def _work(self, work: Callable[[Cache], Result]) -> Result:
        if self._cache is None:
            self._cache = Cache(str(self.folder), timeout=LOCK_WAIT_S, size_limit=self._size_limit)
        return work(self._cache)

    def _close_cache(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _explain(self, error: Any) -> str:
        said = str(error).lower()
        if "malformed" in said or "not a database" in said:
            return f"{self.folder} is damaged: delete it and start again; only short-lived values are lost"
        if "full" in said or "no space" in said:
            return f"{self.folder} cannot grow, the disk is full: free some space"
        return f"{self.folder} cannot be used ({error}): check that this user may write to it"


CONNECTIONS = 32
"""Per process; threads wait for one instead of opening hundreds."""


class RedisServer:
    """A pool of connections, opened when first used. Raises StorageError."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.place = f"Redis at {parts.hostname or parts.path or 'localhost'}:{parts.port or 6379}"
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=20,
                decode_responses=True,
                encoding_errors="replace",
                socket_timeout=5,
                socket_connect_timeout=5,
                health_check_interval=30,
                # A visitor waits for this: one quick second try for a connection that was cut.
                retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), retries=2),
            )
        except ValueError as error:
            raise StorageError(f"REDIS_URL is not an address ({error}): write redis://host:6379/0") from error
        self._client = Redis(connection_pool=pool)

    @contextmanager
    def client(self) -> Iterator[Redis]:
        """The client; errors of Redis become a StorageError of one line."""
        try:
            yield self._client
        except RedisError as error:
            raise StorageError(self._explain(error)) from error

    def ping(self) -> None:
        """Raises StorageError when the server does not answer."""
        with self.client() as client:
            client.ping()

    def close(self) -> None:
        """Closes every connection; using it again opens new ones."""
        self._client.connection_pool.disconnect()

    def _explain(self, error: RedisError) -> str:
        said = " ".join(str(error).split())
        if isinstance(error, AuthenticationError):
            return f"{self.place} refuses the password ({said}): check REDIS_URL"
        if isinstance(error, OutOfMemoryError):
            return f"{self.place} is full: raise its maxmemory, or set a maxmemory-policy"
        return f"{self.place} does not answer ({said}): check REDIS_URL and that the server runs"


MEGABYTES = 256


class DiskSharedCache:
    """A cache in a folder, for all processes of one machine. Implements the protocol Cache."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = DiskFolder(folder, MEGABYTES)

    def get(self, key: str) -> str | None:
        """The value, or None when it is absent or expired."""
        value: str | None = self._folder.run(lambda cache: cache.get(storable(key)))
        return value

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Stores or replaces."""
        self._folder.run(lambda cache: cache.set(storable(key), storable(value), expire=ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Stores only if the key is absent or expired; says whether it stored."""
        return bool(self._folder.run(lambda cache: cache.add(storable(key), storable(value), expire=ttl_s)))

    def delete(self, key: str) -> None:
        """Removes the value. An absent one is no error."""
        self._folder.run(lambda cache: cache.delete(storable(key)))

    def close(self) -> None:
        """Closes the folder."""
        self._folder.close()


class RedisSharedCache:
    """A cache in Redis, for any number of machines. Implements the protocol Cache."""

    def __init__(self, url: str) -> None:
        self._server = RedisServer(url)

    def get(self, key: str) -> str | None:
        """The value, or None when it is absent or expired."""
        with self._server.client() as client:
            value = client.get(_key(key))
        return None if value is None else str(value)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Stores or replaces."""
        with self._server.client() as client:
            client.set(_key(key), storable(value), px=_milliseconds(ttl_s))

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        """Stores only if the key is absent or expired; says whether it stored."""
        with self._server.client() as client:
            return bool(client.set(_key(key), storable(value), px=_milliseconds(ttl_s), nx=True))

    def delete(self, key: str) -> None:
        """Removes the value. An absent one is no error."""
        with self._server.client() as client:
            client.delete(_key(key))

    def close(self) -> None:
        """Closes every connection."""
        self._server.close()


def _key(key: str) -> str:
    return f"docent:cache:{storable(key)}"


def _milliseconds(seconds: float) -> int:
    # Redis refuses a time to live of 0; one millisecond is as good as none.
    return max(1, round(seconds * 1000))
