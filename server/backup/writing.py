"""Writes a backup: the whole database at one moment, in one file."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

from sqlalchemy import Connection, Table, select

from server.backup.shape import MANIFEST, SECRET, Manifest, TableNote, entry, tables, write_row
from server.storage import upgrade
from server.storage.columns import now
from server.storage.database import Database

ROWS = 500
"""Rows read at once, so that memory does not grow with the database."""
COUNTED = ("sites", "conversations", "messages", "operators", "pages")


def write_backup(database: Database, out: BinaryIO, version: str, secret: str = "") -> Manifest:
    """Write a zip archive to `out`, which need not be seekable, including `secret` unless it is empty.

    Visitors are served in the meantime: the backup sees the database as it was at the start. Raises
    StorageError.
    """
    notes: dict[str, TableNote] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        with database.snapshot() as connection:
            for table in tables():
                notes[table.name] = _write_table(archive, connection, table)
        if secret:
            archive.writestr(SECRET, secret)
        manifest = Manifest(
            now().isoformat(timespec="seconds"), version, upgrade.newest(), notes,
            has_secret=bool(secret), summary={name: notes[name].rows for name in COUNTED},
        )  # fmt: skip
        # Last: a backup that was cut off has none.
        archive.writestr(MANIFEST, manifest.to_json())
    return manifest


def _write_table(archive: zipfile.ZipFile, connection: Connection, table: Table) -> TableNote:
    rows = size = 0
    digest = hashlib.sha256()
    with archive.open(entry(table), "w", force_zip64=True) as file:
        for lines, count in _batches(connection, table):
            file.write(lines)
            digest.update(lines)
            rows, size = rows + count, size + len(lines)
    return TableNote(rows, size, digest.hexdigest())


def _batches(connection: Connection, table: Table) -> Iterator[tuple[bytes, int]]:
    result = connection.execution_options(yield_per=ROWS).execute(select(table))
    for batch in result.mappings().partitions(ROWS):
        yield b"".join(write_row(row) for row in batch), len(batch)  # type: ignore[arg-type]
