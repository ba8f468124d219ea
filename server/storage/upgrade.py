"""Upgrades the tables with Alembic on an open connection, from any working directory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from server.storage.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
FIRST, LAST_BEFORE = "0100", "0012"
"""The first released revision, and the last unreleased one, which has the same tables."""


@cache
def newest() -> str:
    """The newest revision. A file's name begins with its revision, such as 0100_first_tables.py."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def is_newest(connection: Connection) -> bool:
    """Whether there is nothing to upgrade. Saves a starting process the import of Alembic."""
    return _revision(connection) == newest()


def upgrade(connection: Connection) -> None:
    """Upgrade to the newest revision inside the transaction of `connection`. Raises StorageError."""
    from alembic import command
    from alembic.util.exc import CommandError

    revision = _revision(connection)
    if revision == LAST_BEFORE:
        connection.execute(text("UPDATE alembic_version SET version_num = :first"), {"first": FIRST})
    elif revision is not None and revision < LAST_BEFORE:
        raise StorageError(
            f"the database was made by an early, unreleased Docent (revision {revision}): make a backup with "
            "that Docent and restore it here, or choose another DATA_DIR and crawl the sites again"
        )
    try:
        command.upgrade(configuration(connection), "head")
    except CommandError as error:
        if "Can't locate revision" not in str(error):
            raise
        raise StorageError(
            "the database was written by a newer version of Docent: update Docent, or restore a backup"
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


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found
