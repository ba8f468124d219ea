"""Migrations make the tables that the code expects, once, whoever calls them."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from server.storage import upgrade
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.schema import metadata

MIGRATING = """
import multiprocessing, sys
import alembic.command  # imported before the start, so that all of them really migrate at once
from server.storage.database import Database

def migrate(start):
    start.wait()
    database = Database(sys.argv[1])
    database.migrate()
    database.close()

processes = multiprocessing.get_context("fork")
start = processes.Barrier(4)
started = [processes.Process(target=migrate, args=(start,)) for _ in range(4)]
for process in started:
    process.start()
for process in started:
    process.join()
sys.exit(any(process.exitcode for process in started))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path):
    """The address of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    return request.getfixturevalue("new_postgresql")()


@pytest.fixture
def empty(empty_url):
    database = Database(empty_url)
    yield database
    database.close()


def is_ours(name):
    """Each database has its own tables for the search in conversations."""
    return not name.startswith("message_search")


def tables(database):
    with database.connect() as connection:
        return set(filter(is_ours, inspect(connection).get_table_names()))


def test_the_migrations_make_the_tables_that_the_code_expects(empty):
    empty.migrate()
    with empty.connect() as connection:
        options = {"include_name": lambda name, kind, _parents: kind != "table" or is_ours(name)}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_migrating_again_changes_nothing(empty):
    empty.migrate()
    before = tables(empty)
    empty.migrate()
    assert tables(empty) == before == {*metadata.tables, "alembic_version"}


def test_every_revision_is_the_newest_once(empty):
    empty.migrate()
    with empty.connect() as connection:
        stored = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        assert not upgrade.is_needed(connection)
    assert stored == [upgrade.newest()]


def test_several_processes_may_migrate_at_once_from_any_folder(empty_url, run):
    process = run(MIGRATING, empty_url)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    database = Database(empty_url)
    assert tables(database) == {*metadata.tables, "alembic_version"}
    database.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(empty):
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE operators (id INTEGER)"))
    with pytest.raises(Exception, match="operators"):
        empty.migrate()
    assert tables(empty) == {"operators"}


def test_a_database_of_a_newer_version_is_refused_with_advice(empty):
    empty.migrate()
    with empty.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999', works_from = '9998'"))
    with pytest.raises(
        StorageError, match=r"newer version of Docent .* update Docent, or go back by restoring"
    ):
        empty.migrate()


def test_a_database_without_a_note_of_what_works_with_it_is_refused(empty):
    with empty.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('9999')"))
    with pytest.raises(StorageError, match="update Docent"):
        empty.migrate()
