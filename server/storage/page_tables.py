"""The tables of what operators changed about pages."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, Table

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class PageTables:
    """Named as in the database."""

    decisions: Table
    """Pages that operators corrected, keep out of the index, or pinned."""
    quotes: Table
    """How many of the quotes given on a page still stood on it when that was looked at last."""
    citations: Table
    """`page_citations`: how often each page is cited, and when last. Triggers of the migration keep it."""


def page_tables(metadata: MetaData) -> PageTables:
    """Made in `metadata`, which has the table of sites."""
    return PageTables(_decisions(metadata), _quotes(metadata), _citations(metadata))


def _decisions(metadata: MetaData) -> Table:
    return Table(
        "page_decisions",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("url", Words, primary_key=True),
        *(Column(name, Boolean, nullable=False) for name in ("excluded", "pinned", "edited")),
        Column("title", Words, nullable=False),
        Column("text", Words, nullable=False),
        Column("accepted_hash", Words, nullable=False),
        Column("site_hash", Words, nullable=False),
        Column("changed_by", Words, nullable=False),
        Column("changed_at", Moment, nullable=False),
        # Last, for it may be long: reading the others does not read it.
        Column("site_page", Json),
        Index(None, "site_id", "pinned"),
    )


def _quotes(metadata: MetaData) -> Table:
    return Table(
        "page_quotes",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("url", Words, primary_key=True),
        Column("content_hash", Words, nullable=False),
        Column("checked", Integer, nullable=False),
        Column("broken", Integer, nullable=False),
        Column("checked_at", Moment, nullable=False),
        Index(None, "site_id", "broken"),
    )


def _citations(metadata: MetaData) -> Table:
    return Table(
        "page_citations",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("url", Words, primary_key=True),
        Column("times", BigInteger, nullable=False),
        Column("last_at", Moment, nullable=False),
    )
