"""The MetaData that all tables share, and the columns that many of them have."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, MetaData

from server.storage.columns import Json, Moment, Words

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows itself only in a column whose type is exactly INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")


SEALED = "sealed"
"""In the `info` of a column: its texts are sealed, and `keys rotate` seals them again. Where the table has a
column of this name, it says of each row whether they are."""


def texts(*names: str) -> list[Column[str]]:
    """Text columns that may not be null."""
    return [Column(name, Words, nullable=False) for name in names]


def blanks(*names: str) -> list[Column[str]]:
    """Text columns that are empty unless a value is given."""
    return [Column(name, Words, nullable=False, server_default="") for name in names]


def flags(*names: str) -> list[Column[bool]]:
    """Boolean columns that may not be null."""
    return [Column(name, Boolean, nullable=False) for name in names]


def jsons(*names: str) -> list[Column[Any]]:
    """JSON columns that may not be null."""
    return [Column(name, Json, nullable=False) for name in names]


def integers(*names: str) -> list[Column[int]]:
    """Integer columns that may not be null."""
    return [Column(name, Integer, nullable=False) for name in names]


def moments(*names: str) -> list[Column[datetime]]:
    """Time columns that may not be null."""
    return [Column(name, Moment, nullable=False) for name in names]


def key(name: str) -> Column[str]:
    """A text column of the primary key."""
    return Column(name, Words, primary_key=True)


def cascade(target: str) -> ForeignKey:
    """A foreign key whose rows are deleted with the row that they refer to."""
    return ForeignKey(target, ondelete="CASCADE")


def of_site() -> Column[str]:
    """The site that a row belongs to."""
    return Column("site_id", Words, cascade("sites.id"), nullable=False)


def site_key() -> Column[str]:
    """The site that a row belongs to, as the first column of the primary key."""
    return Column("site_id", Words, cascade("sites.id"), primary_key=True)
