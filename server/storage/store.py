"""What every store has: queries and changes of one statement, and the columns of a record."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Executable, Table, delete
from sqlalchemy.exc import IntegrityError

from server.storage.database import Database
from server.storage.errors import StorageError, UnknownSite
from server.storage.statements import AnyRow, AnySelect, among, upsert

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
Found = TypeVar("Found")


class Store:
    """A view on the database; each method below is one transaction. Raises StorageError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def _rows(self, query: Executable, values: Values = None) -> Sequence[AnyRow]:
        """All rows of a query."""
        with self._db.connect() as connection:
            return connection.execute(query, values).all()

    def _row(self, query: Executable, values: Values = None) -> AnyRow | None:
        """The first row of a query, or None."""
        with self._db.connect() as connection:
            return connection.execute(query, values).first()

    def _scalars(self, query: Executable, values: Values = None) -> list[Any]:
        """The first column of all rows of a query."""
        with self._db.connect() as connection:
            return list(connection.execute(query, values).scalars())

    def _scalar(self, query: Executable, values: Values = None) -> Any:
        """The first column of the first row of a query; None without a row."""
        with self._db.connect() as connection:
            return connection.execute(query, values).scalar()

    def _batches(
        self, query: AnySelect, key: Column[Any], size: int, *, down: bool = False
    ) -> Iterator[AnyRow]:
        """All rows of a query in the order of `key`, which it selects; `size` of them in memory at a time."""
        ordered = query.order_by(None).order_by(key.desc() if down else key).limit(size)
        rows = self._rows(ordered)
        yield from rows
        while len(rows) == size:
            last = rows[-1]._mapping[key]
            rows = self._rows(ordered.where(key < last if down else key > last))
            yield from rows

    def _write(self, statement: Executable, values: Values = None) -> int:
        """Carry out a change; return how many rows it concerned."""
        with self._db.begin() as connection:
            return connection.execute(statement, values).rowcount

    def _put(self, table: Table, values: Values) -> None:
        """Store a row or rows, each in place of the one with the same key."""
        self._write(upsert(self._db.dialect, table), values)


class SiteRows(Store):
    """A view on the rows of one site."""

    def __init__(self, db: Database, site_id: str) -> None:
        super().__init__(db)
        self.site_id = site_id

    @contextmanager
    def _adding(self) -> Iterator[Connection]:
        """Open a transaction that adds rows. Raises UnknownSite."""
        with raising(UnknownSite(f"there is no site {self.site_id!r}")), self._db.begin() as connection:
            yield connection

    def _put(self, table: Table, values: Values) -> None:
        """Store a row or rows, each in place of the one with the same key. Raises UnknownSite."""
        with self._adding() as connection:
            connection.execute(upsert(self._db.dialect, table), values)

    def _remove(self, table: Table, urls: Collection[str]) -> None:
        """Delete the rows of these pages. Unknown addresses are ignored."""
        these = (table.c.site_id == self.site_id, among(self._db.dialect, table.c.url, "urls"))
        self._write(delete(table).where(*these), {"urls": sorted(urls)})


def existing(found: Sequence[Found], missing: StorageError) -> Found:
    """The record that was asked for by its key. Raises `missing` when nothing was found."""
    if not found:
        raise missing
    return found[0]


@contextmanager
def raising(error: StorageError) -> Iterator[None]:
    """Raise `error` for rows that refer to a row which is gone, or have a key that is taken."""
    try:
        yield
    except IntegrityError as broken:
        raise error from broken


def columns_of(record: type, table: Table, **others: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    """The columns of a table that the fields of a dataclass are named after, in their order. `others` are
    fields that the table has no column for."""
    names = record.__dataclass_fields__  # type: ignore[attr-defined]
    return [others[name] if name in others else table.c[name] for name in names]
