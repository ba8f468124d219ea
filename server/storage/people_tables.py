"""The tables of who runs the dashboard, what they set, and what they changed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, Table, true

from server.storage.columns import Json, Moment, Words
from server.storage.event_tables import EventTables, event_tables

Number = BigInteger().with_variant(Integer(), "sqlite")


@dataclass(frozen=True, slots=True)
class PeopleTables:
    """Named as in the database, the sessions and links without `operator_`."""

    audit: Table
    """Every change that was made on the dashboard."""
    sessions: Table
    """Who is logged in, and from where."""
    links: Table
    """Links that work once: invitations, and new passwords."""
    recovery_codes: Table
    """For who has lost the device of the second factor."""
    overrides: Table
    """Settings that were changed on the dashboard."""
    api_keys: Table
    events: EventTables
    """What is told to other systems, and how it was sent."""


def people_tables(metadata: MetaData) -> PeopleTables:
    """Made in `metadata`, which has the tables of sites and operators."""
    return PeopleTables(
        _audit(metadata),
        _sessions(metadata),
        _links(metadata),
        _recovery_codes(metadata),
        _overrides(metadata),
        _api_keys(metadata),
        event_tables(metadata),
    )


def _of_operator() -> ForeignKey:
    return ForeignKey("operators.id", ondelete="CASCADE")


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
        Index(None, "operator", "at"),
        Index(None, "action", "at"),
    )


def _sessions(metadata: MetaData) -> Table:
    return Table(
        "operator_sessions",
        metadata,
        Column("hash", Words, primary_key=True),
        Column("id", Words, nullable=False, unique=True),
        Column("operator_id", Number, _of_operator(), nullable=False, index=True),
        Column("started_at", Moment, nullable=False),
        Column("seen_at", Moment, nullable=False),
        Column("ends_at", Moment, nullable=False, index=True),
        Column("address", Words, nullable=False),
        Column("browser", Words, nullable=False),
    )


def _links(metadata: MetaData) -> Table:
    return Table(
        "operator_links",
        metadata,
        Column("hash", Words, primary_key=True),
        Column("id", Words, nullable=False, unique=True),
        Column("kind", Words, nullable=False),
        Column("email", Words, nullable=False),
        Column("role", Words, nullable=False),
        Column("operator_id", Number, _of_operator(), index=True),
        Column("made_by", Words, nullable=False),
        Column("made_at", Moment, nullable=False),
        Column("ends_at", Moment, nullable=False),
    )


def _recovery_codes(metadata: MetaData) -> Table:
    return Table(
        "recovery_codes",
        metadata,
        Column("operator_id", Number, _of_operator(), primary_key=True, autoincrement=False),
        Column("hash", Words, primary_key=True),
    )


def _overrides(metadata: MetaData) -> Table:
    return Table(
        "setting_overrides",
        metadata,
        Column("name", Words, primary_key=True),
        Column("value", Words, nullable=False),
        Column("sealed", Boolean, nullable=False),
        Column("at", Moment, nullable=False),
        Column("operator", Words, nullable=False),
    )


def _api_keys(metadata: MetaData) -> Table:
    return Table(
        "api_keys",
        metadata,
        Column("id", Words, primary_key=True),
        Column("hash", Words, nullable=False, unique=True),
        Column("shown", Words, nullable=False),
        Column("name", Words, nullable=False),
        Column("scopes", Json, nullable=False),
        # Of one site, or with null of all.
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), index=True),
        Column("made_by", Words, nullable=False),
        Column("made_at", Moment, nullable=False),
        Column("ends_at", Moment),
        Column("used_at", Moment),
        Column("on", Boolean, nullable=False, server_default=true()),
    )
