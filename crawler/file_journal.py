"""A journal in one SQLite file, for crawls from the shell."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from crawler.errors import BadStart
from crawler.journal import Entry

_COLUMNS = tuple(field.name for field in fields(Entry))
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    url TEXT PRIMARY KEY, depth INTEGER, hops INTEGER, found_on TEXT, state TEXT, reason TEXT, status INTEGER,
    content_hash TEXT, fingerprint INTEGER, visit TEXT, settled INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_WRITE = f"INSERT OR REPLACE INTO entries ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_READ = f"SELECT {', '.join(_COLUMNS)} FROM entries ORDER BY depth, url"
_SETTLE = "UPDATE entries SET settled = 1, visit = '' WHERE url = ?"


class FileJournal:
    """A `crawler.journal.Journal`. Raises BadStart when the file is none of ours, or in use."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            # Two crawls over one journal would each do half of the work.
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise BadStart(
                f"{path} cannot hold the state of the crawl ({error}): give another file."
            ) from error

    def entries(self) -> Iterator[Entry]:
        for row in self._db.execute(_READ):
            values = (*row[:-1], bool(row[-1]))
            yield Entry(*values)

    def write(self, entries: Sequence[Entry]) -> None:
        self._all_or_nothing(_WRITE, [astuple(entry) for entry in entries])

    def settle(self, urls: Sequence[str]) -> None:
        self._all_or_nothing(_SETTLE, [(url,) for url in urls])

    def notes(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM notes"))

    def note(self, name: str, value: str) -> None:
        self._all_or_nothing("INSERT OR REPLACE INTO notes VALUES (?, ?)", [(name, value)])

    def is_over(self) -> bool:
        """Whether everything that was found has ended and was stored."""
        found = "SELECT count(*), total(settled) FROM entries"
        entries, settled = self._db.execute(found).fetchone()
        return bool(entries) and entries == settled

    def clear(self) -> None:
        """Forgets a crawl that is over, for the next one; the notes stay."""
        with self._lock:
            self._db.execute("DELETE FROM entries")

    def close(self) -> None:
        self._db.close()

    def _all_or_nothing(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(statement, rows)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
