"""The two statements that SQLite and PostgreSQL spell differently."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Column, ColumnElement, Table, any_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import Text

from server.storage.columns import Json


def upsert(
    dialect: str, table: Table, key: Collection[str], keep: Collection[str] = ()
) -> sqlite.Insert | postgresql.Insert:
    """An insert that replaces every column of a row with the same key, except those to `keep`."""
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    fixed = {*key, *keep}
    changed = {column.name: insert.excluded[column.name] for column in table.c if column.name not in fixed}
    return insert.on_conflict_do_update(index_elements=list(key), set_=changed)


def among(dialect: str, column: Column[str], name: str) -> ColumnElement[bool]:
    """`column` is one of the strings in the list bound to `name`.

    One parameter whatever the length, unlike IN with a list: the statement is compiled once and
    there is no limit to the number of values.
    """
    if dialect == "postgresql":
        return column == any_(bindparam(name, type_=postgresql.ARRAY(Text)))
    values = func.json_each(bindparam(name, type_=Json)).table_valued("value")
    return column.in_(select(values.c.value))
