"""Upgrades the tables with Alembic on an open connection, from any working directory."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from server.storage.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
FIRST, LAST_BEFORE = "0100", "0012"
"""The first released revision, and the last unreleased one, which has the same tables."""


@cache
def newest() -> str:
    """The newest revision. A file's name begins with its revision, such as 0100_first_tables.py."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def is_needed(connection: Connection) -> bool:
    """Return whether the tables are older than this code. Saves a starting process the import of Alembic.

    Newer tables say which revision is the oldest whose code still works with them, so that processes of the
    previous version may start during a rolling upgrade. Raises StorageError for older code.
    """
    found = revision(connection)
    if found is None or found <= newest():
        return found != newest()
    if not "" < _works_from(connection) <= newest():
        raise StorageError(
            f"the database was upgraded by a newer version of Docent (its schema is {found}, and this "
            f"version knows {newest()}): update Docent, or go back by restoring the backup that was made "
            "before the upgrade into an empty database (docs/operations.md)"
        )
    log.warning("the database has the newer schema %s, with which this version works: update it soon", found)
    return False


def upgrade(connection: Connection) -> None:
    """Upgrade to the newest revision inside the transaction of `connection`. Raises StorageError."""
    from alembic import command
    from alembic.util.exc import CommandError

    found = revision(connection)
    if found == LAST_BEFORE:
        connection.execute(text("UPDATE alembic_version SET version_num = :first"), {"first": FIRST})
    elif found is not None and found < LAST_BEFORE:
        raise StorageError(
            f"the database was made by an early, unreleased Docent (revision {found}): make a backup with "
            "that Docent and restore it here, or choose another DATA_DIR and crawl the sites again"
        )
    try:
        command.upgrade(configuration(connection), "head")
    except CommandError as error:
        if "Can't locate revision" not in str(error):
            raise
        raise StorageError(
            f"no version of Docent that was released has the schema {found} of the database: restore a backup"
        ) from error


def configuration(connection: Connection) -> Config:
    """Alembic's configuration for working on `connection`."""
    from alembic.config import Config

    config = Config()
    # Alembic reads the path through a config parser, where % begins an interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def revision(connection: Connection) -> str | None:
    """Return the revision of the tables; None for an empty database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _works_from(connection: Connection) -> str:
    columns = inspect(connection).get_columns("alembic_version")
    if all(column["name"] != "works_from" for column in columns):
        return ""
    found: str | None = connection.execute(text("SELECT works_from FROM alembic_version")).scalar()
    return found or ""
