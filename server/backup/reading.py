"""Reads a backup: everything is checked before anything is touched, then all is replaced in one
transaction."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, Table, delete, func, insert, inspect, select, text, update
from sqlalchemy.exc import DataError, IntegrityError

from crawler.unpacking import is_bounded
from server.backup.rows import BadRow, check_row
from server.backup.shape import (
    DERIVED,
    KEPT,
    LEFT_OUT,
    MANIFEST,
    SECRET,
    SITE_MANIFEST,
    Manifest,
    entry,
    read_row,
    rows_at_once,
    tables,
)
from server.storage import upgrade
from server.storage.columns import now
from server.storage.conversations.erasure import erase_again
from server.storage.conversations.search import index_rows
from server.storage.crawls.runs import OPEN, STOPPED
from server.storage.database import Database
from server.storage.errors import BadBackup
from server.storage.people.audit import adopt
from server.storage.schema import metadata
from server.storage.schema.conversations import messages
from server.storage.schema.people import audit
from server.storage.schema.sites import crawls
from server.storage.statements import upsert_with

MANIFEST_BYTES = 1_000_000
SECRET_BYTES = 1000
LINE_BYTES = 300_000_000
"""The longest row: a file of a source, as text."""
MOST_PACKED = 1100
"""Deflate compresses at most about 1030 to one: a higher ratio is an attack."""
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError)


class Backup:
    """A whole backup that fits this version of Docent."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest, folders: Sequence[Path]) -> None:
        self._archive = archive
        self._folders = folders
        self.manifest = manifest

    @property
    def secret(self) -> str:
        """The key of the data folder, where the backup has it."""
        if not self.manifest.has_secret:
            return ""
        with self._archive.open(SECRET) as file:
            return file.read(SECRET_BYTES).decode("ascii", "replace").strip()

    def check(self, free_bytes: int) -> None:
        """Read all of it once. Raises BadBackup."""
        size = sum(note.bytes for note in self.manifest.tables.values())
        if size > free_bytes:
            raise BadBackup(
                f"the backup needs {size // 1_000_000} MB of disk, and {free_bytes // 1_000_000} MB are free"
            )
        for table in tables():
            for _ in self.rows(table):
                pass

    def rows(self, table: Table) -> Iterator[dict[str, Any]]:
        """Checked rows of a table. Raises BadBackup, at the latest after the last row."""
        note = self.manifest.tables.get(table.name)
        if note is None:
            return  # the backup is older than this table
        digest, size, count = hashlib.sha256(), 0, 0
        for line in self._lines(entry(table), note.bytes):
            digest.update(line)
            size, count = size + len(line), count + 1
            row = read_row(table, line)
            try:
                check_row(table.name, row, self._folders)
            except BadRow as error:
                raise BadBackup(f"row {count} of {table.name} is refused: {error}") from None
            yield row
        if (size, count, digest.hexdigest()) != (note.bytes, note.rows, note.sha256):
            raise BadBackup(f"the backup is damaged: {table.name} is not as it was written")

    def _lines(self, name: str, most: int) -> Iterator[bytes]:
        size = 0
        try:
            with self._archive.open(name) as file:
                while line := file.readline(min(LINE_BYTES, most - size + 1)):
                    size += len(line)
                    if size > most or not line.endswith(b"\n"):
                        raise BadBackup(f"the backup is damaged: {name} is longer than it says")
                    yield line
        except BROKEN as error:
            raise BadBackup(f"the backup is damaged: {name} cannot be read ({_said(error)})") from None


@contextmanager
def open_backup(
    source: Path | BinaryIO, folders: Sequence[Path] = (), manifest: str = MANIFEST
) -> Iterator[Backup]:
    """Open a backup, or the export of a site, and check its names, sizes and version. Sources may read
    folders below `folders`. Raises BadBackup."""
    try:
        archive = zipfile.ZipFile(source)
    except BROKEN:
        what, maker = (
            ("export of a site", "sites export") if manifest == SITE_MANIFEST else ("backup", "backup")
        )
        raise BadBackup(
            f"this is no {what} of Docent, or it was cut off: choose a whole file that `{maker}` made"
        ) from None
    with archive:
        yield Backup(archive, _checked(archive, manifest), folders)


def restore(database: Database, backup: Backup) -> None:
    """Replace everything in `database` but the audit log with the backup, or change nothing. Raises
    BadBackup."""
    try:
        with database.begin() as connection:
            _empty(connection)
            for table in tables():
                if table is audit:
                    adopt(connection, backup.rows(table))
                else:
                    for rows in batches(table, backup.rows(table)):
                        _put(connection, table, rows)
            # The crawls that were under way when the backup was made have ended.
            ended = {"state": STOPPED, "finished_at": now(), "message": "a backup was restored", "holder": ""}
            connection.execute(update(crawls).where(crawls.c.state.in_(OPEN)).values(**ended))
            erase_again(connection)
            if connection.dialect.name == "postgresql":
                _set_sequences(connection)
    except (IntegrityError, DataError) as error:
        raise not_fitting(error) from None


def not_fitting(error: Exception) -> BadBackup:
    """Return the error for rows that the database refuses."""
    return BadBackup(f"the backup is damaged: its rows do not fit together ({_said(error)})")


def _checked(archive: zipfile.ZipFile, name: str) -> Manifest:
    """Only known names are opened, and no file is created from a name in the archive."""
    known = {name, SECRET, *(entry(table) for table in metadata.sorted_tables)}
    names = [info.filename for info in archive.infolist()]
    if name == MANIFEST and SITE_MANIFEST in names:
        raise BadBackup("this is the export of a single site: bring it in with `sites import`")
    if name == SITE_MANIFEST and MANIFEST in names:
        raise BadBackup("this is a backup of a whole installation, not of a single site: use `restore`")
    if foreign := sorted(set(names) - known):
        raise BadBackup(f"this is no backup of Docent: it holds {foreign[0][:100]!r}")
    if not all(map(is_bounded, archive.infolist())):
        raise BadBackup("this is no backup of Docent: it is compressed in another way")
    if name not in names or len(names) != len(set(names)):
        raise BadBackup("the backup is not complete: it was cut off while it was made or copied")
    info = archive.getinfo(name)
    if info.file_size > MANIFEST_BYTES:
        raise BadBackup("the backup is damaged: its manifest is too long")
    try:
        with archive.open(info) as file:
            manifest = Manifest.read(file.read(MANIFEST_BYTES))
    except BROKEN:
        raise BadBackup("the backup is damaged: its manifest cannot be read") from None
    _check_version(manifest)
    _check_sizes(archive, manifest)
    return manifest


def _check_version(manifest: Manifest) -> None:
    if not manifest.schema.isdigit():
        raise BadBackup("the backup is damaged: it does not say its version")
    if int(manifest.schema) > int(upgrade.newest()):
        raise BadBackup(
            f"the backup was made by a newer version of Docent ({manifest.version}): update Docent first"
        )


def _check_sizes(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    names = {info.filename: info for info in archive.infolist()}
    for table, note in manifest.tables.items():
        info = names.get(f"tables/{table}.jsonl")
        if table not in metadata.tables or table in LEFT_OUT or info is None:
            raise BadBackup(f"the backup is not complete: {table[:100]!r} is missing or unknown")
        if info.file_size != note.bytes or info.file_size > MOST_PACKED * max(info.compress_size, 1):
            raise BadBackup(f"the backup is damaged: {table} has another size than it says")
    known = {MANIFEST, SITE_MANIFEST, SECRET, *(f"tables/{table}.jsonl" for table in manifest.tables)}
    if missing := names.keys() - known:
        raise BadBackup(f"the backup is damaged: its manifest does not name {min(missing)}")
    if manifest.has_secret != (SECRET in names) or (
        manifest.has_secret and names[SECRET].file_size > SECRET_BYTES
    ):
        raise BadBackup("the backup is damaged: its key is not as it says")


def _empty(connection: Connection) -> None:
    for table in reversed(metadata.sorted_tables):
        if table is not audit and table.name not in KEPT:
            connection.execute(delete(table))
    for name in DERIVED:  # again: the triggers took away from what was gone already
        connection.execute(delete(metadata.tables[name]))
    # The word index has tables of its own and is built again from the restored chunks.
    for name in ("word_postings", "word_forms", "word_chunks", "word_blocks", "word_sites"):
        if inspect(connection).has_table(name):
            connection.execute(text(f"DELETE FROM {name}"))


def batches(table: Table, rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows with the same columns together, as many as one statement writes."""
    batch: list[dict[str, Any]] = []
    for row in rows:
        if batch and (len(batch) >= rows_at_once(table) or set(row) != set(batch[0])):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _put(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if table.name in KEPT:
        # Where both know a row, the one that is here is newer.
        written: Any = upsert_with(connection.dialect.name, table, {"at": table.c.at})
    else:
        written = insert(table)
    connection.execute(written, rows)
    if table is messages:
        # What conversations are searched by lies in tables of its own, which no backup holds.
        index_rows(connection, [(row["number"], row["question"], row["text"]) for row in rows])


def _set_sequences(connection: Connection) -> None:
    """Set the sequences of PostgreSQL, which inserting explicit keys does not move."""
    for table in tables():
        column = table.autoincrement_column
        if column is None:
            continue
        sequence = connection.execute(
            select(func.pg_get_serial_sequence(table.name, column.name))
        ).scalar_one_or_none()
        if sequence:
            last = connection.execute(select(func.max(column))).scalar_one_or_none()
            connection.execute(select(func.setval(sequence, last or 1, last is not None)))


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
