"""The tables of the playground."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, Table

from server.storage.columns import Json, Moment, Words


@dataclass(frozen=True, slots=True)
class PlaygroundTables:
    """Named as in the database."""

    runs: Table
    ways: Table
    """How each way of a run went, in rows of their own: they come at different times."""


def playground_tables(metadata: MetaData) -> PlaygroundTables:
    """Made in `metadata`, which has the table of sites."""
    runs = Table(
        "playground_runs",
        metadata,
        Column("id", Words, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("asked_at", Moment, nullable=False),
        Column("asked_by", Words, nullable=False),
        Column("question", Words, nullable=False),
        Column("asked", Json, nullable=False),
        Index(None, "site_id", "asked_at"),
        Index(None, "asked_at"),
    )
    ways = Table(
        "playground_ways",
        metadata,
        Column("run_id", Words, ForeignKey("playground_runs.id", ondelete="CASCADE"), primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("state", Words, nullable=False),
        Column("result", Json, nullable=False),
    )
    return PlaygroundTables(runs, ways)
