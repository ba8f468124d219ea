"""The tables of what a site cannot answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
)

from server.storage.columns import Json, Moment, Words

Number = BigInteger().with_variant(Integer(), "sqlite")


@dataclass(frozen=True, slots=True)
class GapTables:
    """Named as in the database."""

    gaps: Table
    questions: Table
    events: Table
    """What happened to each gap."""
    marks: Table
    """How far the messages were looked at, by name."""


def gap_tables(metadata: MetaData) -> GapTables:
    """Made in `metadata`, which has the tables of sites and messages."""
    return GapTables(_gaps(metadata), _questions(metadata), _events(metadata), _marks(metadata))


def _gaps(metadata: MetaData) -> Table:
    return Table(
        "gaps",
        metadata,
        Column("id", Words, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("question", Words, nullable=False),
        Column("language", Words, nullable=False),
        Column("status", Words, nullable=False),
        Column("asked", Integer, nullable=False),
        Column("visitors", Integer, nullable=False),
        Column("first_asked", Moment, nullable=False),
        Column("last_asked", Moment, nullable=False),
        Column("nearest", Json, nullable=False),
        Column("missing", Json),
        Column("why", Json, nullable=False),
        Column("solved_by", Json),
        Column("note", Words, nullable=False),
        Column("reasked_at", Moment),
        Column("reasked_outcome", Words, nullable=False),
        Column("closed_at", Moment),
        # The sum of the vectors of its questions: 32-bit floats.
        Column("total", LargeBinary),
        Column("embedded", Integer, nullable=False),
        Index(None, "site_id", "status", "visitors"),
        Index(None, "status", "visitors"),
    )


def _questions(metadata: MetaData) -> Table:
    return Table(
        "gap_questions",
        metadata,
        Column("message_id", Words, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        Column("gap_id", Words, ForeignKey("gaps.id", ondelete="CASCADE"), nullable=False),
        Column("question", Words, nullable=False),
        Column("language", Words, nullable=False),
        Column("visitor_id", Words, nullable=False),
        Column("at", Moment, nullable=False),
        Column("why", Words, nullable=False),
        # 16-bit floats: half the room, and no comparison sees the difference.
        Column("vector", LargeBinary),
        Index(None, "gap_id", "at"),
    )


def _events(metadata: MetaData) -> Table:
    return Table(
        "gap_events",
        metadata,
        Column("id", Number, primary_key=True),
        Column("gap_id", Words, ForeignKey("gaps.id", ondelete="CASCADE"), nullable=False),
        Column("at", Moment, nullable=False),
        Column("action", Words, nullable=False),
        Column("by", Words, nullable=False),
        Column("details", Json, nullable=False),
        Index(None, "gap_id", "id"),
    )


def _marks(metadata: MetaData) -> Table:
    return Table(
        "gap_marks",
        metadata,
        Column("name", Words, primary_key=True),
        Column("value", Words, nullable=False),
    )
