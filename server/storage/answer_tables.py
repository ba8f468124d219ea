"""The tables of answers that are not made from pages, and of what models cost."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, Table

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class AnswerTables:
    """Named as in the database."""

    curated: Table
    usage: Table
    """What each model took for each site and day (UTC)."""


def answer_tables(metadata: MetaData) -> AnswerTables:
    """Made in `metadata`, which has the table of sites."""
    return AnswerTables(_curated(metadata), _usage(metadata))


def _curated(metadata: MetaData) -> Table:
    return Table(
        "curated_answers",
        metadata,
        Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("questions", Json, nullable=False),
        Column("text", Words, nullable=False),
        Column("links", Json, nullable=False),
        Column("language", Words, nullable=False),
        Column("enabled", Boolean, nullable=False),
        Column("edited_by", Words, nullable=False),
        Column("edited_at", Moment, nullable=False),
        # The first and the last day, as ISO dates.
        Column("valid_from", Words),
        Column("valid_until", Words),
        Column("hits", Integer, nullable=False, server_default="0"),
        Column("last_given", Moment),
        Column("content_check", Json),
        Index(None, "site_id", "id"),
    )


def _usage(metadata: MetaData) -> Table:
    return Table(
        "model_usage",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column("day", Words, primary_key=True),
        Column("model", Words, primary_key=True),
        Column("calls", BigInteger, nullable=False),
        Column("tokens_in", BigInteger, nullable=False),
        Column("tokens_out", BigInteger, nullable=False),
        Column("cost", Float, nullable=False),
    )
