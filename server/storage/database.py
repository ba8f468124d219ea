"""The SQL database of an installation: SQLite by default, PostgreSQL at scale."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from server.storage import upgrade
from server.storage.engines import BUSY_MS, is_open, open_engine, parse_url, reading, snapshot
from server.storage.errors import StorageError, storage_error
from server.storage.statements import lock

MIGRATION_LOCK = 0x646F63656E74
"""Key of a PostgreSQL advisory lock that no other program uses."""


IDLE_READERS = 4
"""Connections that stay checked out for the next reader. Writers need the others of the pool."""
LOCK_S = 6 * 3600
"""Another process may make a backup of a large database before it upgrades the tables."""


class Database:
    """Transactions on one database, for any number of threads and processes.

    Raises StorageError if it cannot be opened. A missing SQLite folder and file are created.
    After a fork the child process opens its own connections.
    """

    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self.dialect = self._url.get_backend_name()
        self._writer = 0
        self._open()
        with self._explained():
            if self.dialect == "sqlite":
                self._prepare_file()
            self.ping()

    def migrate(self, before: Callable[[str], object] = lambda revision: None) -> None:
        """Upgrade the tables to the newest revision. If several processes call it, only one upgrades.

        `before` gets the revision of tables that are there, before they change; nothing changes if it fails.
        Raises StorageError, also for tables of a newer version that this one cannot work with.
        """
        if not self._needs_upgrade():
            return
        with self.alone():
            if not self._needs_upgrade():
                return
            with self.connect() as connection:
                revision = upgrade.revision(connection)
            if revision is not None:
                before(revision)
            with self.begin() as connection:
                upgrade.upgrade(connection)

    def _needs_upgrade(self) -> bool:
        with self.connect() as connection:
            return upgrade.is_needed(connection)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold a lock between processes, for work in many transactions."""
        if self.dialect == "sqlite":
            with self._file_lock():
                yield
        else:
            with self._explained(), self._engine.begin() as connection:
                lock(connection, MIGRATION_LOCK)
                yield

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a write transaction: committed at the end, rolled back on any exception. Never nest two."""
        self._follow_fork()
        if self.dialect == "postgresql":
            with self._explained(), self._engine.begin() as connection:
                yield connection
            return
        # Writers of this process queue here, because SQLite would wait by polling. They hold no
        # connection while they wait, so readers always get one.
        if self._writer == threading.get_ident():
            raise RuntimeError("begin() inside begin(): the inner one would wait for the outer one forever")
        with self._writing:
            self._writer = threading.get_ident()
            try:
                with self._explained(), self._engine.begin() as connection:
                    # A transaction that reads first and then wants to write fails at once when another
                    # wrote meanwhile; one that takes the lock at its start waits for its turn.
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                    yield connection
            finally:
                self._writer = 0

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a connection for reading. Each statement sees everything committed before it."""
        self._follow_fork()
        # There is no transaction, so that an open connection is as good as a new one.
        idle = self._idle
        with self._explained():
            connection = self._idle_reader() or self._reads.connect()
            is_whole = False
            try:
                yield connection
                is_whole = len(idle) < IDLE_READERS
            finally:
                if is_whole:
                    idle.append(connection)
                else:
                    connection.close()

    def _idle_reader(self) -> Connection | None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if is_open(connection):
                return connection
            connection.invalidate()
            connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a connection for reading on which every statement sees the same state of the database.
        Writers are not blocked."""
        self._follow_fork()
        with self._explained(), snapshot(self._engine) as connection:
            yield connection

    def ping(self) -> None:
        """Raise StorageError if the database does not answer."""
        with self.connect() as connection:
            connection.execute(text("SELECT 1"))

    def clock_ahead_s(self) -> float:
        """Return by how many seconds the database's clock is ahead of this machine's; 0 for SQLite."""
        if self.dialect == "sqlite":
            return 0.0
        with self.connect() as connection:
            at: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        return (at - datetime.now(UTC)).total_seconds()

    def scrub(self, *, merge: bool) -> None:
        """Remove deleted text from the files of SQLite: from the write-ahead log, and with `merge` from the
        full-text index, which otherwise keeps deleted words until it merges its parts. PostgreSQL does both
        by itself. A reader that is at work may keep the log; call it again."""
        if self.dialect != "sqlite":
            return
        if merge:
            with self.begin() as connection:
                connection.exec_driver_sql("INSERT INTO message_search (message_search) VALUES ('optimize')")
        with self.connect() as connection:
            # Writers wait while it waits for readers.
            connection.exec_driver_sql("PRAGMA busy_timeout = 500")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_MS}")

    def close(self) -> None:
        """Close every idle connection. Using the database again opens new ones."""
        _dispose(self._engine, self._idle, self._pid)

    def _open(self) -> None:
        self._pid = os.getpid()
        self._writing = threading.Lock()
        self._writer = 0
        self._engine: Engine = open_engine(self._url)
        self._reads: Engine = reading(self._engine)
        self._idle: list[Connection] = []
        weakref.finalize(self, _dispose, self._engine, self._idle, self._pid)

    def _follow_fork(self) -> None:
        if self._pid == os.getpid():
            return
        # The child must neither use nor close the parent's connections. A reference prevents closing.
        self._inherited = (getattr(self, "_inherited", None), self._engine, self._idle)
        self._open()

    def _prepare_file(self) -> None:
        path = Path(self._url.database or "")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"the folder {path.parent} cannot be made ({error.strerror}): choose another DATA_DIR"
            ) from error
        with self._file_lock(), self.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
            # Switching fails while another process has the file open, so one process does it at a time,
            # and only if needed.
            if mode != "wal":
                mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
        if mode != "wal":
            raise StorageError(
                f"the database {path} cannot use a write-ahead log: put DATA_DIR on a local disk"
            )

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        path = f"{self._url.database}.lock"
        try:
            with FileLock(path, timeout=LOCK_S):
                yield
        except OSError as error:
            raise StorageError(
                f"the lock {path} cannot be taken ({error.strerror or error}): check that this user may "
                "write to its folder and that no other process hangs"
            ) from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            explained = storage_error(error, self._url)
            if explained is None:
                raise
            raise explained from error


def has_tables(url: str) -> bool:
    """Return whether Docent has used the database. A missing SQLite file is not made. Raises StorageError."""
    place = parse_url(url)
    if place.get_backend_name() == "sqlite" and not Path(place.database or "").is_file():
        return False
    with closing(Database(url)) as database, database.connect() as connection:
        return upgrade.revision(connection) is not None


def _dispose(engine: Engine, idle: list[Connection], pid: int) -> None:
    if pid == os.getpid():
        while idle:
            idle.pop().close()
        engine.dispose()
