"""Fixtures with real servers, one of each kind a session, and databases on them: a pytest plugin.

A missing program skips the test and says what to install. DOCENT_TESTS_REQUIRE_SYSTEM=1 makes that a failure.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
import redis

from server.storage.database import Database
from tests.servers import MissingProgram, chroma_server, postgresql, redis_server

_numbers = itertools.count(1)


def missing(error: MissingProgram) -> None:
    """Skips the test, or fails it where everything must be installed."""
    if os.environ.get("DOCENT_TESTS_REQUIRE_SYSTEM") == "1":
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a PostgreSQL server; use `new_postgresql` for a database of one test."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(postgresql())
        except MissingProgram as error:
            missing(error)
        yield address


@pytest.fixture(scope="session")
def new_postgresql(postgresql_server: str) -> Callable[[], str]:
    """Makes an empty PostgreSQL database at each call; returns its address."""
    return lambda: _made_postgresql(postgresql_server)


@pytest.fixture(scope="session")
def new_migrated_postgresql(postgresql_server: str, new_postgresql: Callable[[], str]) -> Callable[[], str]:
    """Makes a PostgreSQL database with all tables and no rows at each call; returns its address. It is a copy:
    migrating takes longer than a test."""
    template = new_postgresql()
    database = Database(template)
    database.migrate()
    database.close()
    return lambda: _made_postgresql(postgresql_server, template)


def _made_postgresql(server: str, template: str = "") -> str:
    """Makes a database, as a copy of the one at the address `template`; returns its address."""
    name = f"test_{next(_numbers)}"
    copied = f" TEMPLATE {template.rpartition('/')[2]}" if template else ""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{copied}")
    return server.rpartition("/")[0] + f"/{name}"


@pytest.fixture(scope="session")
def redis_address() -> Iterator[str]:
    """The address of a Redis server; use `redis_url` for an empty one."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(redis_server())
        except MissingProgram as error:
            missing(error)
        yield address


@pytest.fixture
def redis_url(redis_address: str) -> str:
    """The address of a Redis server with nothing in it."""
    with redis.Redis.from_url(redis_address) as client:
        client.flushall()
    return redis_address


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server."""
    folder: Path = tmp_path_factory.mktemp("chroma")
    with ExitStack() as stack:
        try:
            address = stack.enter_context(chroma_server(folder))
        except MissingProgram as error:
            missing(error)
        yield address


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables and no rows, to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "migrated.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


@pytest.fixture(scope="session")
def migrated_postgresql(new_migrated_postgresql: Callable[[], str]) -> tuple[str, str]:
    """The address of a PostgreSQL database with all tables, which `database_url` empties for each test, and the
    query for the names of the tables that have rows."""
    address = new_migrated_postgresql()
    with psycopg.connect(address) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        ).fetchall()
    used = (f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for (name,) in tables)
    return address, " UNION ALL ".join(used)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with all tables and no rows: the test runs once with each kind."""
    if request.param == "sqlite":
        path = tmp_path / "docent.db"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), path)
        return f"sqlite:///{path}"
    address, used_tables = request.getfixturevalue("migrated_postgresql")
    with psycopg.connect(address, autocommit=True) as connection:
        # What a test before left open; it could still hold locks, or write.
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        # Past the triggers that keep the audit log, and past foreign keys.
        connection.execute("SET session_replication_role = replica")
        # TRUNCATE makes new files for each table and index, which takes longer than most tests.
        for (name,) in connection.execute(used_tables).fetchall():
            connection.execute(f"DELETE FROM {name}")
        connection.execute(
            "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) "
            "FROM pg_sequences WHERE last_value IS NOT NULL"
        )
    return address


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A database with all tables and no rows: the test runs once with each kind."""
    opened = Database(database_url)
    yield opened
    opened.close()
