"""Backups as files: written whole or not at all, by a command or before an upgrade."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from server.backup.shape import write_backup
from server.errors import StartError
from server.storage.columns import now
from server.storage.database import Database
from server.version import version

log = logging.getLogger(__name__)
Made = TypeVar("Made")

KEPT_BEFORE_UPGRADES = 3


def write_file(path: Path, write: Callable[[BinaryIO], Made]) -> Made:
    """Let `write` fill a new file that only its owner may read, and put it at `path` when it is complete.
    Raises StartError."""
    if path.exists() and not path.is_file():
        raise StartError(f"{path} is a folder or a device: name a new file, such as docent.zip")
    part = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
            made = write(out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        raise StartError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return made


def back_up_before_upgrade(database: Database, folder: Path, revision: str) -> Path:
    """Write a backup of tables that still have the old `revision`, which the version that made them can
    restore; return its path. Raises StartError, StorageError."""
    path = folder / f"before-upgrade-{now():%Y%m%dT%H%M%S}-{revision}.zip"
    log.warning(
        "the database is upgraded from schema %s; before that, a backup is written to %s", revision, path
    )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        for left in folder.glob(
            "before-upgrade-*.zip.part"
        ):  # of a process that was killed, for only one upgrades
            left.unlink(missing_ok=True)
        write_file(path, lambda out: write_backup(database, out, version()))
    except (OSError, StartError) as error:
        raise StartError(
            f"no backup could be made before the upgrade of the database, so nothing was changed ({error}): "
            "free some disk space, or set BACKUP_BEFORE_UPGRADE=0 to upgrade without a backup"
        ) from None
    for old in sorted(folder.glob("before-upgrade-*.zip"))[:-KEPT_BEFORE_UPGRADES]:
        old.unlink(missing_ok=True)
    return path
