"""Statements that SQLite and PostgreSQL write differently."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, Table, any_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from server.storage.columns import Json

AnyRow = Row[*tuple[Any, ...]]
AnySelect = Select[*tuple[Any, ...]]


Upsert = sqlite.Insert | postgresql.Insert


def lock(connection: Connection, key: int) -> None:
    """Wait until no other transaction holds this lock. SQLite has only one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(key)))


def insert_new(dialect: str, table: Table) -> Upsert:
    """An insert that leaves a row with the same key as it is."""
    return _insert(dialect, table).on_conflict_do_nothing()


def _insert(dialect: str, table: Table) -> Upsert:
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


@cache
def upsert(dialect: str, table: Table) -> Upsert:
    """An insert that updates a row with the same primary key: its other columns get the new values."""
    return upsert_with(dialect, table, {})


def upsert_with(
    dialect: str,
    table: Table,
    instead: Mapping[str, ColumnElement[Any]],
    where: ColumnElement[bool] | None = None,
) -> Upsert:
    """`upsert` with the expressions in `instead`, for rows that meet `where`. In both, columns refer to the
    row before the update."""
    insert = _insert(dialect, table)
    changed = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    key = list(table.primary_key.columns)
    return insert.on_conflict_do_update(index_elements=key, set_=changed | dict(instead), where=where)


@cache
def upsert_changed(dialect: str, table: Table, column: str) -> Upsert:
    """`upsert` that skips rows whose `column` has the new value already. Its `rowcount` is that of the rows
    that changed."""
    new = upsert(dialect, table).excluded
    changing = upsert_with(dialect, table, {}, where=table.c[column] != new[column])
    return changing.execution_options(preserve_rowcount=True)


@cache
def adding(dialect: str, table: Table, counts: tuple[str, ...]) -> Upsert:
    """An insert that adds its `counts` to those of a row with the same primary key."""
    new = upsert(dialect, table).excluded
    return upsert_with(dialect, table, {name: table.c[name] + new[name] for name in counts})


def among(dialect: str, column: Column[Any], name: str) -> ColumnElement[bool]:
    """`column` is one of the values in the list bound to `name`.

    One parameter whatever the length, unlike IN with a list: the statement is compiled once and
    there is no limit to the number of values.
    """
    if dialect == "postgresql":
        return column == any_(bindparam(name, type_=postgresql.ARRAY(column.type)))
    values = func.json_each(bindparam(name, type_=Json)).table_valued("value")
    return column.in_(select(values.c.value))
