"""The tables of what is derived from a site's chunks, and of what its pages say beside their text."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, Table

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class DerivedTables:
    """Named as in the database."""

    indexes: Table
    """Whole derived indexes: a row is one state of one, and never changes."""
    replies: Table
    """What models said, by what they were asked: a build that is made again pays nothing twice."""
    facts: Table
    """Of pages, as the last crawl saw them."""


def derived_tables(metadata: MetaData) -> DerivedTables:
    """Made in `metadata`, which has the table of sites."""
    return DerivedTables(_indexes(metadata), _replies(metadata), _facts(metadata))


def _of_site() -> Column[str]:
    return Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


def _indexes(metadata: MetaData) -> Table:
    return Table(
        "derived_indexes",
        metadata,
        _of_site(),
        Column("key", Words, primary_key=True),
        Column("generation", Integer, primary_key=True, autoincrement=False),
        Column("signature", Words, nullable=False),
        Column("figures", Json, nullable=False),
        Column("built_at", Moment, nullable=False),
        Column("body", LargeBinary, nullable=False),
    )


def _replies(metadata: MetaData) -> Table:
    return Table(
        "model_replies",
        metadata,
        _of_site(),
        Column("key", Words, primary_key=True),
        Column("kind", Words, nullable=False),
        Column("reply", Words, nullable=False),
        Column("used_at", Moment, nullable=False),
    )


def _facts(metadata: MetaData) -> Table:
    return Table(
        "page_facts",
        metadata,
        _of_site(),
        Column("url", Words, primary_key=True),
        Column("facts", Json, nullable=False),
    )
