"""The tables of what a site is made of beside its website."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
)

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class SourceTables:
    """Named as in the database."""

    sources: Table
    items: Table
    """What each source consisted of when it was last read: files, addresses, pairs."""
    pages: Table
    """Versions of pages as they were read; the live one is that whose hash the table `pages` has."""
    blobs: Table
    """Files as they were given, by the SHA-256 of their bytes."""


def source_tables(metadata: MetaData) -> SourceTables:
    """Made in `metadata`, which has the table of sites."""
    return SourceTables(_sources(metadata), _items(metadata), _pages(metadata), _blobs(metadata))


def _sources(metadata: MetaData) -> Table:
    return Table(
        "sources",
        metadata,
        _site(),
        Column("id", Words, primary_key=True),
        Column("kind", Words, nullable=False),
        Column("name", Words, nullable=False),
        Column("options", Json, nullable=False),
        Column("digest", Words, nullable=False),
        Column("added_at", Moment, nullable=False),
        Column("read_at", Moment),
        Column("message", Words, nullable=False),
    )


def _items(metadata: MetaData) -> Table:
    return Table(
        "source_items",
        metadata,
        Column("site_id", Words, primary_key=True),
        Column("source_id", Words, primary_key=True),
        Column("url", Words, primary_key=True),
        Column("name", Words, nullable=False),
        Column("state", Words, nullable=False),
        Column("reason", Words, nullable=False),
        Column("content_hash", Words, nullable=False),
        Column("missed", Integer, nullable=False),
        ForeignKeyConstraint(["site_id", "source_id"], ["sources.site_id", "sources.id"], ondelete="CASCADE"),
    )


def _pages(metadata: MetaData) -> Table:
    return Table(
        "source_pages",
        metadata,
        _site(),
        Column("url", Words, primary_key=True),
        Column("content_hash", Words, primary_key=True),
        Column("page", Json, nullable=False),
        Column("digest", Words, nullable=False),
        Column("name", Words, nullable=False),
    )


def _blobs(metadata: MetaData) -> Table:
    return Table(
        "source_blobs",
        metadata,
        _site(),
        Column("digest", Words, primary_key=True),
        Column("size", Integer, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Index(None, "site_id", "size"),
    )


def _site() -> Column[str]:
    return Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
