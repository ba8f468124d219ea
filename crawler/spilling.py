"""A dictionary that keeps its newest entries in memory and the others in a temporary file.

A crawl asks of every link whether its address is known. A small site never reaches the file; of a large one a
bounded part is in memory, however many addresses it has.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeVar

V = TypeVar("V")
_MOST_HERE = 10_000
_BATCH = 1000
_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE entries (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_WRITE = "INSERT OR REPLACE INTO entries VALUES (?, ?)"


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _same(value: Any) -> Any:
    return value


class Spilling(MutableMapping[str, V]):
    """Keys are texts; values are what JSON holds, or what `encode` makes of them and `decode` reads.

    Safe to use from many threads. Iterating yields a key twice when it is set again meanwhile.
    """

    def __init__(
        self,
        encode: Callable[[V], Any] = _same,
        decode: Callable[[Any], V] = _same,
        most_here: int = _MOST_HERE,
    ) -> None:
        self._encode = encode
        self._decode = decode
        self._most_here = most_here
        self._here: dict[str, V] = {}
        self._file: sqlite3.Connection | None = None
        self._length = 0
        self._lock = threading.RLock()

    def __getitem__(self, key: str) -> V:
        with self._lock:
            if key in self._here:
                return self._here[key]
            if self._file is None:
                raise KeyError(key)
            row = self._file.execute("SELECT value FROM entries WHERE key = ?", (_bytes(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        return self._decode(json.loads(row[0]))

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._here or self._is_in_file(key)

    def __setitem__(self, key: str, value: V) -> None:
        with self._lock:
            self._length += key not in self
            self._here[key] = value
            if len(self._here) > self._most_here:
                self._spill()

    def __delitem__(self, key: str) -> None:
        with self._lock:
            if key not in self:
                raise KeyError(key)
            self._length -= 1
            self._here.pop(key, None)
            if self._file is not None:
                self._file.execute("DELETE FROM entries WHERE key = ?", (_bytes(key),))

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            newest = list(self._here)
        yield from newest
        after, keys = "", self._keys_after("")
        while keys:
            yield from (key for key in keys if key not in self._here)
            after = keys[-1]
            keys = self._keys_after(after)

    def __len__(self) -> int:
        return self._length

    def _keys_after(self, after: str) -> list[str]:
        with self._lock:
            if self._file is None:
                return []
            wanted = "SELECT key FROM entries WHERE key > ? ORDER BY key LIMIT ?"
            found = self._file.execute(wanted, (_bytes(after), _BATCH))
            return [key.decode("utf-8", "surrogatepass") for (key,) in found]

    def _is_in_file(self, key: object) -> bool:
        if self._file is None or not isinstance(key, str):
            return False
        found = self._file.execute("SELECT 1 FROM entries WHERE key = ?", (_bytes(key),))
        return found.fetchone() is not None

    def _spill(self) -> None:
        if self._file is None:
            # SQLite removes a database without a name when it is closed, and when its process is killed.
            self._file = sqlite3.connect("", check_same_thread=False, isolation_level=None)
            self._file.executescript(_SCHEMA)
        self._file.execute("BEGIN")
        rows = ((_bytes(key), json.dumps(self._encode(value))) for key, value in self._here.items())
        self._file.executemany(_WRITE, rows)
        self._file.execute("COMMIT")
        self._here.clear()
