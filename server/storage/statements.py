"""Statements that SQLite and PostgreSQL write differently."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, Row, Select, Table, any_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from server.storage.columns import Json

AnyRow = Row[*tuple[Any, ...]]
AnySelect = Select[*tuple[Any, ...]]


def upsert(
    dialect: str, table: Table, key: Collection[str], instead: Mapping[str, ColumnElement[Any]] | None = None
) -> sqlite.Insert | postgresql.Insert:
    """An insert that updates a row with the same key: its other columns get the values of the insert, or the
    expressions in `instead`, in which columns refer to the row before the update."""
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    changed = {column.name: insert.excluded[column.name] for column in table.c if column.name not in key}
    return insert.on_conflict_do_update(index_elements=list(key), set_=changed | dict(instead or {}))


def among(dialect: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """`column` is one of the values in the list bound to `name`.

    One parameter whatever the length, unlike IN with a list: the statement is compiled once and
    there is no limit to the number of values.
    """
    if dialect == "postgresql":
        return column == any_(bindparam(name, type_=postgresql.ARRAY(column.type)))
    values = func.json_each(bindparam(name, type_=Json)).table_valued("value")
    return column.in_(select(values.c.value))
