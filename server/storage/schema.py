"""Runs the Alembic migrations on an open connection, from any working directory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from server.storage.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"


@cache
def newest() -> str:
    """The newest revision: files are named by it, such as 0001_first_tables.py."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def is_newest(connection: Connection) -> bool:
    """Whether nothing is to be done. Spares a starting process the import of Alembic."""
    if not inspect(connection).has_table("alembic_version"):
        return False
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == newest()


def upgrade(connection: Connection) -> None:
    """Brings the tables to the newest revision inside the transaction of `connection`, or raises."""
    from alembic import command
    from alembic.util.exc import CommandError

    try:
        command.upgrade(configuration(connection), "head")
    except CommandError as error:
        if "Can't locate revision" not in str(error):
            raise
        raise StorageError(
            "the database was written by a newer version of Docent: update Docent, or restore a backup"
        ) from error


def configuration(connection: Connection) -> Config:
    """What Alembic's commands need to work on `connection`."""
    from alembic.config import Config

    config = Config()
    # Alembic reads the path through a config parser, where % begins an interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
