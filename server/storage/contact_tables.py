"""The tables of what visitors wrote to people, and of how it was sent."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from server.storage.columns import Moment, Words


@dataclass(frozen=True, slots=True)
class ContactTables:
    """Named as in the database, without `contact_`."""

    requests: Table
    deliveries: Table
    """One for each way that a request is sent."""
    tries: Table


def contact_tables(metadata: MetaData) -> ContactTables:
    """Made in `metadata`, which has the tables of sites and conversations."""
    return ContactTables(_requests(metadata), _deliveries(metadata), _tries(metadata))


def _requests(metadata: MetaData) -> Table:
    return Table(
        "contact_requests",
        metadata,
        Column("id", Words, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("reference", Words, nullable=False, unique=True),
        Column("visitor_id", Words, nullable=False),
        Column("conversation_id", Words, ForeignKey("conversations.id", ondelete="CASCADE"), index=True),
        Column("at", Moment, nullable=False),
        Column("email", Words, nullable=False),
        Column("message", Words, nullable=False),
        Index(None, "site_id", "at"),
        Index(None, "site_id", "visitor_id"),
    )


def _deliveries(metadata: MetaData) -> Table:
    return Table(
        "contact_deliveries",
        metadata,
        Column("id", Words, primary_key=True),
        Column("request_id", Words, ForeignKey("contact_requests.id", ondelete="CASCADE"), nullable=False),
        Column("channel", Words, nullable=False),
        Column("state", Words, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("next_at", Moment, nullable=False),
        UniqueConstraint("request_id", "channel"),
        Index(None, "state", "next_at"),
    )


def _tries(metadata: MetaData) -> Table:
    return Table(
        "contact_tries",
        metadata,
        Column("number", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column(
            "delivery_id",
            Words,
            ForeignKey("contact_deliveries.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        Column("at", Moment, nullable=False),
        Column("target", Words, nullable=False),
        Column("arrived", Boolean, nullable=False),
        Column("says", Words, nullable=False),
    )
