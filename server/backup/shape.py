"""Writes backups, and says their format: the whole database at one moment, in one file.

manifest.json        the version of everything below, with the size and checksum of each table
tables/NAME.jsonl    a table, one row a line, in no other order than the database's
data/secret.key      only when it was asked for: what signs sessions and opens sealed secrets
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from pydantic import NonNegativeInt, TypeAdapter
from sqlalchemy import Boolean, Column, Connection, LargeBinary, Select, Table, inspect, select
from sqlalchemy.types import Float, Integer

from server.storage import upgrade
from server.storage.columns import Json, Moment, Path, Words, now
from server.storage.database import Database
from server.storage.errors import BadBackup
from server.storage.schema import metadata

FORMAT = 1
MANIFEST, SECRET = "manifest.json", "data/secret.key"
SITE_MANIFEST = "site.json"
"""Instead of MANIFEST in the export of a single site, so that no version takes it for a backup."""
DERIVED = frozenset({"message_days", "message_times", "page_citations"})
"""Tables that the database's triggers compute from other tables."""
LEFT_OUT = DERIVED | {
    "operator_sessions",
    "operator_links",
    "setup_tokens",
    "budgets",
    "crawl_frontier",
    "crawl_hosts",
}
"""The others grant access, or are of a day, and are of no use elsewhere."""
KEPT = frozenset({"erasures"})
"""Tables of which a restore keeps every row: those of a backup are added."""


def tables() -> list[Table]:
    """Tables of a backup, each after the tables that it refers to."""
    return [table for table in metadata.sorted_tables if table.name not in LEFT_OUT]


def rows_at_once(table: Table) -> int:
    """Return how many rows of a table are read or written together."""
    body = table.c.get("body")
    return FILES if body is not None and isinstance(body.type, LargeBinary) else ROWS


def entry(table: Table) -> str:
    """Name of a table in the archive."""
    return f"tables/{table.name}.jsonl"


@dataclass(frozen=True, slots=True)
class TableNote:
    """A table's entry in the manifest."""

    rows: NonNegativeInt
    bytes: NonNegativeInt
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a backup."""

    made_at: str
    version: str
    """Version of Docent."""
    schema: str
    """Revision of the database."""
    tables: dict[str, TableNote]
    format: int = FORMAT
    has_secret: bool = False
    summary: dict[str, int] = field(default_factory=dict)
    """Numbers for people: sites, conversations, operators."""
    site: str = ""
    """Id of the site, in the export of a single one."""

    @property
    def counts(self) -> str:
        """The summary in words."""
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.summary.items())

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: bytes) -> Manifest:
        """Raises BadBackup."""
        try:
            value = json.loads(text)
            if int(value["format"]) > FORMAT:
                raise BadBackup("the backup was made by a newer version of Docent: update Docent first")
            return TypeAdapter(cls).validate_python(value)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadBackup("the backup is damaged: its manifest cannot be read") from None


def write_row(row: Mapping[str, Any]) -> bytes:
    """Encode a row as one line."""
    values = {name: _written(value) for name, value in row.items()}
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def read_row(table: Table, line: bytes) -> dict[str, Any]:
    """Decode a line into the values of a row. Raises BadBackup."""
    try:
        values = json.loads(line)
        return {name: _read(table.c[name], value) for name, value in values.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise BadBackup(f"the backup is damaged: a row of {table.name} cannot be read") from None


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode("ascii")
    return value


def _read(column: Column[Any], value: Any) -> Any:
    if isinstance(column.type, Json):
        return value
    if value is None:
        if not column.nullable:
            raise ValueError(f"{column} is missing")
        return None
    for kind, read in _READERS:
        if isinstance(column.type, kind):
            return read(value)
    raise TypeError(f"{column} has a type that no backup has")


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _only(*types: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError(f"{value!r:.50} is no {types[0].__name__}")
        return value

    return read


def _whole_number(value: Any) -> int:
    found: int = _only(int)(value)
    if abs(found) > LARGEST:
        raise ValueError("no database holds so large a number")
    return found


_READERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Moment, _moment),
    (LargeBinary, lambda value: base64.b64decode(value, validate=True)),
    (Path, lambda value: tuple(map(_only(str), value))),
    (Words, _only(str)),
    (Boolean, _only(bool)),
    (Integer, _whole_number),
    (Float, lambda value: float(_only(float, int)(value))),
)
"""For each type of column; BigInteger is an Integer."""
LARGEST = 2**63 - 1


ROWS, FILES = 500, 2
"""Rows read or written at once, so that memory does not grow with the database; FILES where rows hold whole
files."""
COUNTED = ("sites", "conversations", "messages", "operators", "pages")


def write_backup(database: Database, out: BinaryIO, version: str, secret: str = "") -> Manifest:
    """Write a zip archive to `out`, which need not be seekable, including `secret` unless it is empty.

    Visitors are served in the meantime: the backup sees the database as it was at the start. Raises
    StorageError.
    """
    notes: dict[str, TableNote] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        with database.snapshot() as connection:
            schema = upgrade.revision(connection) or ""
            for table, wanted in _every_table(connection, schema):
                notes[table.name] = write_table(archive, connection, table, wanted)
        if secret:
            archive.writestr(SECRET, secret)
        manifest = Manifest(
            now().isoformat(timespec="seconds"), version, min(schema, upgrade.newest()), notes,
            has_secret=bool(secret), summary={name: notes[name].rows for name in COUNTED},
        )  # fmt: skip
        # Last: a backup that was cut off has none.
        archive.writestr(MANIFEST, manifest.to_json())
    return manifest


def _every_table(connection: Connection, schema: str) -> Iterator[tuple[Table, Select[Any]]]:
    """Yield each table with all of its rows. Before an upgrade, tables and columns may still be missing."""
    if schema >= upgrade.newest():
        yield from ((table, select(table)) for table in tables())
        return
    inspector = inspect(connection)
    for table in tables():
        if inspector.has_table(table.name):
            there = {column["name"] for column in inspector.get_columns(table.name)}
            yield table, select(*(column for column in table.c if column.name in there))


def write_table(
    archive: zipfile.ZipFile, connection: Connection, table: Table, wanted: Select[Any]
) -> TableNote:
    """Write rows of a table."""
    rows = size = 0
    digest, at_once = hashlib.sha256(), rows_at_once(table)
    result = connection.execution_options(yield_per=at_once).execute(wanted)
    with archive.open(entry(table), "w", force_zip64=True) as file:
        for batch in result.mappings().partitions(at_once):
            lines = b"".join(write_row(row) for row in batch)  # type: ignore[arg-type]
            file.write(lines)
            digest.update(lines)
            rows, size = rows + len(batch), size + len(lines)
    return TableNote(rows, size, digest.hexdigest())
