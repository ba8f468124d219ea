"""The tables of what operators keep about conversations, and of what is counted in them.

Triggers of the migration keep `days` and `times` true whoever adds, judges or erases messages. The words
that conversations are searched by stand in a table that each database spells its own way: see
server.storage.message_search.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from server.domain.answer import Outcome
from server.storage.columns import Moment, Words

COUNTED = ("asked", "opened", *(outcome.value for outcome in Outcome), "up", "down", "cost", "tokens")
"""Columns of `message_days`: `opened` counts first questions of conversations, `up` and `down` thumbs."""


@dataclass(frozen=True, slots=True)
class DialogueTables:
    """Named as in the database, but for `days` and `times`."""

    cited: Table
    """The citations of every answer, so that a page knows who cites it."""
    conversation_labels: Table
    replies: Table
    """What operators wrote back to visitors."""
    reply_deliveries: Table
    reply_tries: Table
    days: Table
    """`message_days`: what was asked of each site on each day (UTC)."""
    times: Table
    """`message_times`: how many answers of a day took at most `within_ms` and longer than the step before."""


def dialogue_tables(metadata: MetaData) -> DialogueTables:
    """Made in `metadata`, which has the tables of sites, conversations, messages and contact requests."""
    return DialogueTables(
        _cited(metadata),
        _labels(metadata),
        _replies(metadata),
        _reply_deliveries(metadata),
        _reply_tries(metadata),
        _days(metadata),
        _times(metadata),
    )


def _cited(metadata: MetaData) -> Table:
    return Table(
        "cited",
        metadata,
        Column("message_id", Words, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("site_id", Words, nullable=False),
        Column("url", Words, nullable=False),
        Column("quote", Words, nullable=False),
        Column("at", Moment, nullable=False),
        # So that lists of questions need not look each one up by its id.
        Column("message_number", BigInteger, nullable=False),
        Index(None, "site_id", "url", "at", "message_number"),
    )


def _labels(metadata: MetaData) -> Table:
    return Table(
        "conversation_labels",
        metadata,
        Column(
            "conversation_id", Words, ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
        ),
        Column("label", Words, primary_key=True),
        Column("site_id", Words, nullable=False),
        Column("operator", Words, nullable=False),
        Column("at", Moment, nullable=False),
        Index(None, "site_id", "label"),
    )


def _replies(metadata: MetaData) -> Table:
    return Table(
        "replies",
        metadata,
        Column("id", Words, primary_key=True),
        Column(
            *("request_id", Words, ForeignKey("contact_requests.id", ondelete="CASCADE")),
            nullable=False,
            index=True,
        ),
        Column("at", Moment, nullable=False),
        Column("operator", Words, nullable=False),
        Column("text", Words, nullable=False),
    )


def _reply_deliveries(metadata: MetaData) -> Table:
    return Table(
        "reply_deliveries",
        metadata,
        Column("id", Words, primary_key=True),
        Column("reply_id", Words, ForeignKey("replies.id", ondelete="CASCADE"), nullable=False),
        Column("channel", Words, nullable=False),
        Column("state", Words, nullable=False),
        Column("tries", Integer, nullable=False),
        Column("next_at", Moment, nullable=False),
        UniqueConstraint("reply_id", "channel"),
        Index(None, "state", "next_at"),
    )


def _reply_tries(metadata: MetaData) -> Table:
    delivery = ForeignKey("reply_deliveries.id", ondelete="CASCADE")
    return Table(
        "reply_tries",
        metadata,
        Column("number", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column("delivery_id", Words, delivery, nullable=False, index=True),
        Column("at", Moment, nullable=False),
        Column("target", Words, nullable=False),
        Column("arrived", Boolean, nullable=False),
        Column("says", Words, nullable=False),
    )


def _days(metadata: MetaData) -> Table:
    return Table(
        "message_days",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("day", Words, primary_key=True),
        *(Column(name, Float if name == "cost" else BigInteger, nullable=False) for name in COUNTED),
    )


def _times(metadata: MetaData) -> Table:
    return Table(
        "message_times",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("day", Words, primary_key=True),
        Column("within_ms", Integer, primary_key=True, autoincrement=False),
        Column("asked", BigInteger, nullable=False),
    )
