"""The format of a backup: its tables, how values are written, and its manifest.

manifest.json        the version of everything below, with the size and checksum of each table
tables/NAME.jsonl    a table, one row a line, in no other order than the database's
data/secret.key      only when it was asked for: what signs sessions and opens sealed secrets
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean, Column, LargeBinary, Table
from sqlalchemy.types import Float, Integer

from server.storage.columns import Json, Moment, Path, Words
from server.storage.errors import BadBackup
from server.storage.schema import metadata

FORMAT = 1
MANIFEST, SECRET = "manifest.json", "data/secret.key"
DERIVED = frozenset({"message_days", "message_times", "page_citations"})
"""Tables that the database's triggers compute from other tables."""
LEFT_OUT = DERIVED | {"operator_sessions", "operator_links", "setup_tokens"}
"""The others grant access, and are of no use elsewhere."""


def tables() -> list[Table]:
    """Tables of a backup, each after the tables that it refers to."""
    return [table for table in metadata.sorted_tables if table.name not in LEFT_OUT]


def entry(table: Table) -> str:
    """Name of a table in the archive."""
    return f"tables/{table.name}.jsonl"


@dataclass(frozen=True, slots=True)
class TableNote:
    """A table's entry in the manifest."""

    rows: int
    bytes: int
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

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: bytes) -> Manifest:
        """Raises BadBackup."""
        try:
            value = json.loads(text)
            if int(value["format"]) > FORMAT:
                raise BadBackup("the backup was made by a newer version of Docent: update Docent first")
            notes = {
                str(name): TableNote(int(one["rows"]), int(one["bytes"]), str(one["sha256"]))
                for name, one in dict(value["tables"]).items()
            }
            if any(min(one.rows, one.bytes) < 0 for one in notes.values()):
                raise ValueError
            return cls(
                str(value["made_at"]), str(value["version"]), str(value["schema"]), notes,
                int(value["format"]), bool(value["has_secret"]),
                {str(name): int(one) for name, one in dict(value.get("summary", {})).items()},
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
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


_READERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Moment, _moment),
    (LargeBinary, lambda value: base64.b64decode(value, validate=True)),
    (Path, lambda value: tuple(map(_only(str), value))),
    (Words, _only(str)),
    (Boolean, _only(bool)),
    (Integer, _only(int)),
    (Float, _only(float, int)),
)
"""For each type of column; BigInteger is an Integer."""
