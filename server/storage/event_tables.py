"""The tables of what is told to other systems: shaped like those of messages to people, for one outbox
sends both."""

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
    true,
)

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class EventTables:
    """Named as in the database; the last two without `event_`."""

    webhooks: Table
    events: Table
    deliveries: Table
    """One for each webhook that an event goes to."""
    tries: Table


def event_tables(metadata: MetaData) -> EventTables:
    """Made in `metadata`, which has the table of sites."""
    return EventTables(_webhooks(metadata), _events(metadata), _deliveries(metadata), _tries(metadata))


def _webhooks(metadata: MetaData) -> Table:
    return Table(
        "webhooks",
        metadata,
        Column("id", Words, primary_key=True),
        Column("url", Words, nullable=False),
        Column("secret", Words, nullable=False),
        Column("kinds", Json, nullable=False),
        # Of one site, or with null of all.
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), index=True),
        Column("on", Boolean, nullable=False, server_default=true()),
        Column("made_at", Moment, nullable=False),
    )


def _events(metadata: MetaData) -> Table:
    # No foreign key to the site: that it is gone may be what is told.
    return Table(
        "events",
        metadata,
        Column("id", Words, primary_key=True),
        Column("key", Words, nullable=False, unique=True),
        Column("kind", Words, nullable=False),
        Column("site_id", Words, nullable=False),
        Column("at", Moment, nullable=False),
        Column("data", Json, nullable=False),
        Index(None, "at"),
    )


def _deliveries(metadata: MetaData) -> Table:
    return Table(
        "event_deliveries",
        metadata,
        Column("id", Words, primary_key=True),
        Column("event_id", Words, ForeignKey("events.id", ondelete="CASCADE"), nullable=False),
        Column("webhook_id", Words, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
        Column("state", Words, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("next_at", Moment, nullable=False),
        UniqueConstraint("event_id", "webhook_id"),
        Index(None, "state", "next_at"),
        Index(None, "webhook_id", "next_at"),
    )


def _tries(metadata: MetaData) -> Table:
    return Table(
        "event_tries",
        metadata,
        Column("number", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column(
            "delivery_id",
            Words,
            ForeignKey("event_deliveries.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        Column("at", Moment, nullable=False),
        Column("target", Words, nullable=False),
        Column("arrived", Boolean, nullable=False),
        Column("says", Words, nullable=False),
    )
