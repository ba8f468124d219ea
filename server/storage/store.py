"""What every store has: queries and changes of one statement, and the columns of a record."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Executable, Table

from server.storage.database import Database
from server.storage.statements import AnyRow

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


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

    def _scalar(self, query: Executable) -> Any:
        """The first column of the first row of a query; None without a row."""
        with self._db.connect() as connection:
            return connection.execute(query).scalar()

    def _write(self, statement: Executable, values: Values = None) -> int:
        """Carry out a change; return how many rows it concerned."""
        with self._db.begin() as connection:
            return connection.execute(statement, values).rowcount


def columns_of(record: type, table: Table, **others: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    """The columns of a table that the fields of a dataclass are named after, in their order. `others` are
    fields that the table has no column for."""
    names = record.__dataclass_fields__  # type: ignore[attr-defined]
    return [others[name] if name in others else table.c[name] for name in names]
