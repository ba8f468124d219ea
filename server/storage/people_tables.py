"""The tables of who runs the dashboard, and of what they changed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, Table

from server.storage.columns import Json, Moment, Words

Number = BigInteger().with_variant(Integer(), "sqlite")


@dataclass(frozen=True, slots=True)
class PeopleTables:
    """Named as in the database."""

    audit: Table
    """Every change that was made on the dashboard."""


def people_tables(metadata: MetaData) -> PeopleTables:
    """Made in `metadata`."""
    return PeopleTables(_audit(metadata))


def _audit(metadata: MetaData) -> Table:
    # No foreign keys: what was done is kept when the operator or the site is gone.
    return Table(
        "audit",
        metadata,
        Column("id", Number, primary_key=True),
        Column("at", Moment, nullable=False),
        Column("operator", Words, nullable=False),
        Column("site_id", Words, nullable=False),
        Column("action", Words, nullable=False),
        Column("details", Json, nullable=False),
        Index(None, "at"),
        Index(None, "site_id", "at"),
    )
