"""Runs the Alembic migrations on an open connection, from any working directory."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from server.storage.errors import StorageError

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


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Brings the tables to `revision` inside the transaction of `connection`: all of it or nothing."""
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    # Alembic reads the path through a config parser, where % begins an interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        if "Can't locate revision" not in str(error):
            raise
        raise StorageError(
            "the database was written by a newer version of Docent: update Docent, or restore a backup"
        ) from error
