"""A folder of small values on disk, bounded in size, for every process of one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from diskcache import Cache, Timeout

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
        """What `work` returns. It must be short: one piece of work runs at a time."""
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
