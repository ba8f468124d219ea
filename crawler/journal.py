"""The journal of a crawl, from which an interrupted crawl resumes.

Every address found is an entry. An entry waits; then it was read, and its visit is stored until the crawl
has judged it; then it ended. It is settled when the consumer of the crawl has stored the outcome. After a
kill at any moment, a crawl with the same journal visits what waits, yields what was not settled again
without fetching it, and leaves the rest alone.

CrawlJournal is the contract; FileJournal implements it in one SQLite file, for crawls from the shell.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Protocol

from crawler.errors import BadStart

WAITING = "waiting"
READ = "read"
"""States of an entry before it has one of `UrlState`."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One address of a crawl."""

    url: str
    depth: int
    hops: int = 0
    """Redirects that led here."""
    found_on: str = ""
    """Address of the page that links to it; empty for start addresses, sitemaps and earlier crawls."""
    state: str = WAITING
    reason: str = ""
    status: int = 0
    content_hash: str = ""
    """Of the page, when it ended as one."""
    fingerprint: int = 0
    """64 bits by which nearly equal pages are found, signed."""
    visit: str = ""
    """What was read there, as text that only the crawl understands; empty once settled."""
    settled: bool = False


class CrawlJournal(Protocol):
    """Storage of entries and notes. Each call is atomic, and survives kill -9 once it returned.

    `settle` is called by the consumer of the crawl, all else by one thread of the crawl itself, at the
    same time.
    """

    def entries(self) -> Iterator[JournalEntry]:
        """Yield everything written before, lowest depth first."""

    def write(self, entries: Sequence[JournalEntry]) -> None:
        """Add entries; replace those of the same address."""

    def settle(self, urls: Sequence[str]) -> None:
        """Mark entries as settled and drop their visits."""

    def notes(self) -> dict[str, str]:
        """Return what `note` wrote: name -> value."""

    def note(self, name: str, value: str) -> None:
        """Store a fact about the whole crawl; replace an earlier value."""


_COLUMNS = tuple(field.name for field in fields(JournalEntry))
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
    """A journal in one SQLite file. Raises BadStart when the file is something else, or in use."""

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

    def entries(self) -> Iterator[JournalEntry]:
        for row in self._db.execute(_READ):
            values = (*row[:-1], bool(row[-1]))
            yield JournalEntry(*values)

    def write(self, entries: Sequence[JournalEntry]) -> None:
        self._all_or_nothing(_WRITE, [astuple(entry) for entry in entries])

    def settle(self, urls: Sequence[str]) -> None:
        self._all_or_nothing(_SETTLE, [(url,) for url in urls])

    def notes(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM notes"))

    def note(self, name: str, value: str) -> None:
        self._all_or_nothing("INSERT OR REPLACE INTO notes VALUES (?, ?)", [(name, value)])

    def is_over(self) -> bool:
        """Return whether every address found has ended and was stored."""
        found = "SELECT count(*), total(settled) FROM entries"
        entries, settled = self._db.execute(found).fetchone()
        return bool(entries) and entries == settled

    def clear(self) -> None:
        """Delete the entries of a finished crawl; the notes stay for the next one."""
        with self._lock:
            self._db.execute("DELETE FROM entries")

    def close(self) -> None:
        self._db.close()

    def _all_or_nothing(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        with self._lock, self._db:  # commits at its end, or rolls back
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(statement, rows)
