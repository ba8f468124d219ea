"""Upgrades while Docent serves: the previous release works with the tables of the next one, a backup is made before
tables change, and code that is too old says so.

The rule, from revision 0112 on: a migration adds what older code need not know. What older code reads is removed in a
later release, by a migration that raises `works_from` to a revision that an earlier release in CHANGELOG.md has.
"""

import io
import re
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from server.backup.files import back_up_before_upgrade
from server.backup.reading import open_backup, restore
from server.errors import StartError
from server.runtime.configuration import open_configuration
from server.settings.reading import load_settings
from server.storage import upgrade
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from tests.storage.test_backup import backed_up, fill, make_database  # noqa: F401
from tests.storage.test_upgrades import fill as fill_first
from tests.storage.test_upgrades import first  # noqa: F401

HELD_FROM = "0112"
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


def shape(connection):
    """What a program meets in the database: for each table its columns, and what its rows must fulfil."""
    found, inspector = {}, inspect(connection)
    for table in inspector.get_table_names():
        columns = {
            column["name"]: (str(column["type"]), column["nullable"], column["default"] is not None)
            for column in inspector.get_columns(table)
        }
        unique = {tuple(one["column_names"]) for one in inspector.get_unique_constraints(table)}
        unique |= {tuple(one["column_names"]) for one in inspector.get_indexes(table) if one["unique"]}
        foreign = {tuple(one["constrained_columns"]) for one in inspector.get_foreign_keys(table)}
        checks = {one["sqltext"] for one in inspector.get_check_constraints(table)}
        primary = tuple(inspector.get_pk_constraint(table)["constrained_columns"])
        found[table] = columns, {"unique": unique, "foreign key": foreign, "check": checks}, primary
    return found


def breaks(before, after):
    """What older code cannot work with, one line each."""
    for table, (columns, rules, primary) in before.items():
        if table not in after:
            yield f"table {table} is gone"
            continue
        columns_after, rules_after, primary_after = after[table]
        yield from broken_columns(table, columns, columns_after)
        yield from (f"{table} has a new {kind}" for kind in rules if rules_after[kind] - rules[kind])
        if primary != primary_after:
            yield f"{table} has another primary key"


def broken_columns(table, before, after):
    for name, (kind, nullable, default) in before.items():
        if name not in after:
            yield f"{table}.{name} is gone"
            continue
        kind_after, nullable_after, default_after = after[name]
        if kind_after != kind:
            yield f"{table}.{name} has another type"
        if (nullable and not nullable_after) or (default and not default_after):
            yield f"{table}.{name} must have a value"
    for name in after.keys() - before.keys():
        if not after[name][1] and not after[name][2]:
            yield f"{table}.{name} is new and must have a value"


def works_from(connection):
    return connection.execute(text("SELECT works_from FROM alembic_version")).scalar()


def released():
    """The schema of each release, as `make release` notes it."""
    return set(re.findall(r"^Database schema: (\d{4})\.$", CHANGELOG.read_text(encoding="utf-8"), re.M))


def test_no_migration_breaks_the_release_before(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/steps.db")
    with database.begin() as connection:
        configuration = upgrade.configuration(connection)
        command.upgrade(configuration, HELD_FROM)
        scripts = ScriptDirectory.from_config(configuration).iterate_revisions("head", HELD_FROM)
        for script in reversed(list(scripts)):
            before, oldest = shape(connection), works_from(connection)
            command.upgrade(configuration, script.revision)
            broken = list(breaks(before, shape(connection)))
            raised = works_from(connection)
            if broken:
                assert raised != oldest, f"{script.revision} breaks older code: {broken}"
                assert raised in released(), f"{script.revision}: no release has the schema {raised}"
            else:
                assert raised == oldest, f"{script.revision} raises works_from without need"
    database.close()


BREAKING = {
    "table house is gone": lambda op: op.drop_table("house"),
    "house.colour is gone": lambda op: op.drop_column("house", "colour"),
    "house.name is gone": lambda op: op.alter_column("house", "name", new_column_name="title"),
    "house.rooms must have a value": lambda op: op.execute("ALTER TABLE house ALTER rooms SET NOT NULL"),
    "house.doors must have a value": lambda op: op.execute("ALTER TABLE house ALTER doors DROP DEFAULT"),
    "house.colour has another type": lambda op: op.alter_column("house", "colour", type_=sa.String(3)),
    "house has a new unique": lambda op: op.create_index("u", "house", ["name"], unique=True),
    "house has a new check": lambda op: op.create_check_constraint("c", "house", "rooms > 0"),
    "house has a new foreign key": lambda op: op.create_foreign_key("f", "house", "house", ["rooms"], ["id"]),
    "house.size is new and must have a value": lambda op: op.add_column(
        "house", sa.Column("size", sa.Integer(), nullable=False)
    ),
}
ADDING = (
    lambda op: op.create_table("garden", sa.Column("id", sa.Integer(), primary_key=True)),
    lambda op: op.add_column("house", sa.Column("size", sa.Integer())),
    lambda op: op.add_column("house", sa.Column("age", sa.Integer(), nullable=False, server_default="0")),
    lambda op: op.create_index("i", "house", ["name"]),
    lambda op: op.alter_column("house", "name", nullable=True),
)


def changed_house(url, change):
    """The shape of a small database before and after a migration."""
    database = Database(url)
    with database.begin() as connection:
        sa.Table(
            "house",
            sa.MetaData(),
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("name", sa.Text, nullable=False),
            sa.Column("colour", sa.Text),
            sa.Column("rooms", sa.Integer),
            sa.Column("doors", sa.Integer, nullable=False, server_default="1"),
        ).create(connection)
        before = shape(connection)
        with Operations.context(MigrationContext.configure(connection)) as op:
            change(op)
        after = shape(connection)
    database.close()
    return before, after


@pytest.mark.parametrize("says", BREAKING)
def test_a_migration_that_breaks_older_code_is_noticed(new_postgresql, says):
    assert says in list(breaks(*changed_house(new_postgresql(), BREAKING[says])))


@pytest.mark.parametrize("change", ADDING)
def test_a_migration_that_only_adds_is_fine(new_postgresql, change):
    assert list(breaks(*changed_house(new_postgresql(), change))) == []


def add_what_the_next_release_has(database):
    with database.begin() as connection:
        connection.execute(text("ALTER TABLE sites ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'"))
        connection.execute(text("ALTER TABLE messages ADD COLUMN mood TEXT"))
        connection.execute(text("CREATE TABLE moods (id INTEGER PRIMARY KEY)"))
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_this_version_starts_and_works_on_the_tables_of_the_next_one(make_database, caplog, kind):  # noqa: F811
    database = make_database(kind)
    add_what_the_next_release_has(database)
    database.migrate()
    assert "has the newer schema 9999, with which this version works" in caplog.text
    fill(database)
    data = backed_up(database)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert f'"schema": "{upgrade.newest()}"' in archive.read("manifest.json").decode()
        assert b"mood" not in archive.read("tables/sites.jsonl")


@pytest.fixture
def installation(tmp_path):
    """Settings of an installation whose database is of the first release and holds a row in every table."""
    settings = load_settings({"data_dir": str(tmp_path / "data")}, Path("/dev/null"))
    (tmp_path / "data").mkdir(mode=0o700)
    database = Database(f"sqlite:///{tmp_path}/data/docent.sqlite3")
    with database.begin() as connection:
        command.upgrade(upgrade.configuration(connection), "0100")
        fill_first(connection)
    database.close()
    return settings


def backups(settings):
    return sorted((settings.storage.data_dir / "backups").glob("*"))


OPENING = """
import sys
from pathlib import Path
from server.runtime.configuration import open_configuration
from server.settings.reading import load_settings

sys.stdin.readline()
_, database = open_configuration(load_settings({"data_dir": sys.argv[1]}, Path("/dev/null")))
database.close()
"""


def test_of_several_processes_one_makes_a_backup_before_the_tables_change(installation, run):
    processes = [run(OPENING, str(installation.storage.data_dir)) for _ in range(4)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    (file,) = backups(installation)
    assert file.name.endswith("-0100.zip")
    assert file.stat().st_mode & 0o077 == 0
    with open_backup(file) as backup:
        assert (backup.manifest.schema, backup.manifest.summary["messages"]) == ("0100", 1)
        assert "passkeys" not in backup.manifest.tables


def test_a_new_database_needs_no_backup(tmp_path):
    settings = load_settings({"data_dir": str(tmp_path)}, Path("/dev/null"))
    open_configuration(settings)[1].close()
    assert backups(settings) == []


def test_no_backup_is_made_where_the_setting_says_so(installation):
    settings = installation.with_values({"backup_before_upgrade": False})
    open_configuration(settings)[1].close()
    assert backups(settings) == []


def test_without_room_for_the_backup_nothing_is_upgraded(installation):
    (installation.storage.data_dir / "backups").write_text("no folder")
    with pytest.raises(StartError, match=r"nothing was changed .* BACKUP_BEFORE_UPGRADE=0"):
        open_configuration(installation)
    database = Database(f"sqlite:///{installation.storage.data_dir}/docent.sqlite3")
    with database.connect() as connection:
        assert upgrade.revision(connection) == "0100"
    database.close()


def test_the_newest_three_backups_are_kept_and_no_unfinished_one(make_database, tmp_path):  # noqa: F811
    folder = tmp_path / "backups"
    folder.mkdir()
    for number in range(4):
        (folder / f"before-upgrade-2026010{number + 1}T000000-0100.zip").touch()
    (folder / "mine.zip").touch()
    (folder / "before-upgrade-20260105T000000-0100.zip.part").touch()  # its process was killed
    newest = back_up_before_upgrade(make_database("sqlite"), folder, "0112")
    names = [path.name for path in sorted(folder.iterdir())]
    kept = [f"before-upgrade-2026010{number}T000000-0100.zip" for number in (3, 4)]
    assert names == [*kept, newest.name, "mine.zip"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_downgrade_restores_the_backup_of_before_into_an_empty_database(make_database, tmp_path, kind):  # noqa: F811
    """As docs/operations.md says: this version, after an upgrade to the next one that went wrong."""
    database = make_database(kind)
    fill(database)
    file = back_up_before_upgrade(database, tmp_path / "backups", upgrade.newest())
    add_what_the_next_release_has(database)
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET works_from = '9999'"))
    with pytest.raises(upgrade.StorageError, match="restoring the backup that was made before the upgrade"):
        database.migrate()
    empty = make_database(kind)
    with open_backup(file) as backup:
        backup.check(10**12)
        restore(empty, backup)
    assert [site.id for site in SiteStore(empty).all()] == ["shop"]
