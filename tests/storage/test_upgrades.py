"""Upgrading a database that holds rows in every table keeps every row.

rows_0100.json holds one row for each table of revision 0100, the first release, as Docent writes it. A migration
that renames or converts a column on purpose says so in `CHANGED`.
"""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Boolean, Connection, DateTime, LargeBinary, MetaData, insert, select, text

from server.storage import upgrade
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.schema import metadata

ROWS = json.loads(Path(__file__).with_name("rows_0100.json").read_text(encoding="utf-8"))
BY_TRIGGERS = {"message_days", "message_times", "page_citations"}
CHANGED: dict[tuple[str, str], str] = {}
"""(table, column) of revision 0100 -> name of the column now; "" when it was dropped."""


@pytest.fixture(params=["sqlite", "postgresql"])
def first(request, tmp_path):
    """A database of the first release with a row in every table."""
    sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/first.db" if sqlite else request.getfixturevalue("new_postgresql")()
    database = Database(url)
    with database.begin() as connection:
        command.upgrade(upgrade.configuration(connection), "0100")
        fill(connection)
    yield database
    database.close()


def reflected(connection: Connection) -> MetaData:
    found = MetaData()
    found.reflect(
        connection,
        only=lambda name, _: not name.startswith("message_search_") and name != "alembic_version",
        resolve_fks=False,
    )
    return found


def fill(connection: Connection) -> None:
    tables = reflected(connection).tables
    for name, row in ROWS.items():
        table = tables[name]
        values = {column: stored(table.c[column].type, value) for column, value in row.items()}
        connection.execute(insert(table), values)
    if connection.dialect.name == "sqlite":
        connection.execute(text("INSERT INTO message_search (rowid, words) VALUES (7, 'parcel arrives')"))
    else:
        words = "INSERT INTO message_search VALUES (7, to_tsvector('simple', 'parcel arrives'))"
        connection.execute(text(words))


def stored(kind, value):
    """The value as the driver takes it."""
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    if isinstance(kind, DateTime):
        moment = datetime.fromisoformat(value)
        return moment if kind.timezone else moment.astimezone(UTC).replace(tzinfo=None)
    return bool(value) if isinstance(kind, Boolean) else value


def every_row(database):
    with database.connect() as connection:
        return {
            name: [dict(row._mapping) for row in connection.execute(select(table))]
            for name, table in reflected(connection).tables.items()
        }


@pytest.mark.parametrize("revision", ["0100", "0012"])
def test_an_upgrade_keeps_every_row(first, revision):
    with first.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    before = every_row(first)
    assert set(before) >= {*ROWS, *BY_TRIGGERS, "message_search"}
    assert [name for name, rows in before.items() if not rows] == []
    first.migrate()
    after = every_row(first)
    assert set(after) >= set(metadata.tables)
    for name, rows in before.items():
        for row in rows:
            kept = {CHANGED.get((name, column), column): value for column, value in row.items()}
            kept.pop("", None)
            assert any(kept.items() <= there.items() for there in after[name]), (name, kept, after[name])


def test_a_database_of_an_early_revision_is_refused_with_advice(first):
    with first.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0007'"))
    with pytest.raises(StorageError, match=r"unreleased Docent \(revision 0007\): make a backup"):
        first.migrate()
