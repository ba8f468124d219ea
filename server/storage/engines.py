"""Opens SQLite and PostgreSQL, with the transactions that readers and writers need."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import URL, Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError

from server.storage.errors import StorageError

SQLITE = "sqlite:///"
SQLITE_CONNECTIONS = 8
"""Reading is limited by the interpreter: more connections only cost memory and open files."""
POSTGRESQL_CONNECTIONS = 10
"""Per process. docs/operations.md adds them up."""
POOL_WAIT_S = 60.0
SQLITE_CACHE_KIB = 2_048
"""Per connection, and each process has several: the system's own cache of the file is shared by all."""
BUSY_MS = 30_000
RESTART_S = 10.0
"""Seconds for which requests wait for a PostgreSQL server that was there and does not answer now."""


def parse_url(text: str) -> URL:
    """The URL with its driver, and with an absolute path for a file. Raises StorageError.

    Everything after sqlite:/// is the literal path: % and ? have no special meaning.
    """
    if text.startswith(SQLITE):
        path = text.removeprefix(SQLITE)
        if path in ("", ":memory:"):
            raise StorageError("DATABASE_URL needs a file: write sqlite:///path/to/file.db")
        return URL.create("sqlite+pysqlite", database=str(Path(path).absolute()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        raise StorageError(
            "DATABASE_URL is not an address that Docent knows: write sqlite:///path/to/file.db or "
            "postgresql://user:password@host:5432/name"
        )
    if "@" in (url.host or ""):
        raise StorageError("the password in DATABASE_URL has an @: write %40 in its place")
    return url.set(drivername="postgresql+psycopg")


def open_engine(url: URL) -> Engine:
    """An engine that begins no transaction of SQLite by itself."""
    return _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)


def reading(engine: Engine) -> Engine:
    """The same pool without transactions: every statement sees the newest state and costs one trip."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A connection with one reading transaction."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")  # deferred: the first statement takes the snapshot
            yield connection
            connection.rollback()
        return
    isolated = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    with isolated.connect() as connection:
        yield connection
        connection.rollback()


def _postgresql(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=POSTGRESQL_CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        pool_use_lifo=True,
        skip_autocommit_rollback=True,
        hide_parameters=True,
        connect_args={"connect_timeout": 10, "application_name": "docent", "options": "-c timezone=UTC"},
    )
    event.listen(engine, "do_connect", _WaitForRestart())
    event.listen(engine, "checkout", _check_out)
    return engine


def is_open(connection: Connection) -> bool:
    """Whether an idle connection can be used. SQLite never closes one."""
    return connection.dialect.name == "sqlite" or not _was_left(connection.connection.dbapi_connection)


def _was_left(connection: Any) -> bool:
    """Whether the server has closed an idle connection to PostgreSQL. Its last words, or the end, can be read
    then: to look is a hundred times as fast as to ask the server."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _check_out(connection: Any, _record: object, _proxy: object) -> None:
    if _was_left(connection):
        raise DisconnectionError("the server has closed the connection")  # the pool opens another


class _WaitForRestart:
    """Opens connections. While the server restarts, whoever needs one waits instead of failing: nothing was
    sent to the server yet. A server that stays away fails every further try at once."""

    def __init__(self) -> None:
        self._gives_up_at: float | None = 0.0
        """None while the server answers; a server that never did is not waited for."""

    def __call__(self, dialect: Dialect, _record: object, arguments: Any, options: Any) -> Any:
        while True:
            try:
                opened = dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError:
                if self._gives_up_at is None:
                    self._gives_up_at = monotonic() + RESTART_S
                if monotonic() > self._gives_up_at:
                    raise
                sleep(0.1)
            else:
                self._gives_up_at = None
                return opened


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=SQLITE_CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        pool_use_lifo=True,
        hide_parameters=True,
        connect_args={"timeout": BUSY_MS / 1000, "cached_statements": 256},
    )
    event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # Otherwise the driver begins transactions by itself, later than ours and without the write lock.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    # SQLite's own function leaves letters such as Ä as they are.
    connection.create_function("lower", 1, lambda text: text and str(text).lower(), deterministic=True)
    # What is deleted is overwritten, for it may be the words of a visitor.
    connection.execute("PRAGMA secure_delete = ON")
    # After a big build the log on disk shrinks again.
    connection.execute(f"PRAGMA journal_size_limit = {64 * 2**20}")
    connection.execute(f"PRAGMA cache_size = -{SQLITE_CACHE_KIB}")
