"""The tables of test sets, of their runs, of the quality gate, and of the playground."""

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
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from server.storage.columns import Json, Moment, Words

Number = BigInteger().with_variant(Integer(), "sqlite")


@dataclass(frozen=True, slots=True)
class QualityTables:
    """Named as in the database."""

    testsets: Table
    cases: Table
    runs: Table
    reports: Table
    """What a run came to, apart from the list of runs: it is large. Part 0 is the report without its rows,
    part n the rows of its n-th way."""
    answers: Table
    """What each way made of each question of a run."""
    gates: Table
    """What a site's new index is measured by before it goes live."""
    checks: Table
    """What came of that."""


def quality_tables(metadata: MetaData) -> QualityTables:
    """Made in `metadata`, which has the table of sites."""
    return QualityTables(
        _testsets(metadata),
        _cases(metadata),
        _runs(metadata),
        _reports(metadata),
        _answers(metadata),
        _gates(metadata),
        _checks(metadata),
    )


def _testsets(metadata: MetaData) -> Table:
    return Table(
        "testsets",
        metadata,
        Column("id", Number, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("name", Words, nullable=False),
        Column("origin", Words, nullable=False),
        Column("state", Words, nullable=False),
        Column("holder", Words, nullable=False),
        Column("beat_at", Moment),
        Column("chosen", Json, nullable=False),
        Column("message", Words, nullable=False),
        Column("made_at", Moment, nullable=False),
        Column("changed_at", Moment, nullable=False),
        Index(None, "site_id", "id"),
        Index(None, "state", "id"),
    )


def _cases(metadata: MetaData) -> Table:
    return Table(
        "test_cases",
        metadata,
        Column("testset_id", Number, ForeignKey("testsets.id", ondelete="CASCADE"), primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("case_id", Words, nullable=False),
        Column("question", Words, nullable=False),
        Column("type", Words, nullable=False),
        Column("answerable", Boolean, nullable=False),
        Column("line", Words, nullable=False),
        UniqueConstraint("testset_id", "case_id"),
    )


def _runs(metadata: MetaData) -> Table:
    return Table(
        "quality_runs",
        metadata,
        Column("id", Number, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("testset_id", Number, ForeignKey("testsets.id", ondelete="SET NULL"), index=True),
        Column("testset_name", Words, nullable=False),
        Column("state", Words, nullable=False),
        Column("wanted", Words, nullable=False),
        Column("holder", Words, nullable=False),
        Column("beat_at", Moment),
        Column("queued_at", Moment, nullable=False),
        Column("started_at", Moment),
        Column("finished_at", Moment),
        Column("chosen", Json, nullable=False),
        Column("step", Words, nullable=False),
        Column("done", Integer, nullable=False),
        Column("total", Integer, nullable=False),
        Column("message", Words, nullable=False),
        Column("generation", Integer, nullable=False),
        Column("questions", Integer, nullable=False),
        Column("summary", Json, nullable=False),
        Index(None, "site_id", "id"),
        Index(None, "state", "id"),
    )


def _reports(metadata: MetaData) -> Table:
    return Table(
        "quality_reports",
        metadata,
        Column("run_id", Number, ForeignKey("quality_runs.id", ondelete="CASCADE"), primary_key=True),
        Column("part", Integer, primary_key=True, autoincrement=False),
        Column("body", LargeBinary, nullable=False),
    )


def _answers(metadata: MetaData) -> Table:
    return Table(
        "quality_answers",
        metadata,
        Column("run_id", Number, ForeignKey("quality_runs.id", ondelete="CASCADE"), primary_key=True),
        Column("way", Integer, primary_key=True, autoincrement=False),
        Column("case_id", Words, primary_key=True),
        Column("body", Json, nullable=False),
    )


def _gates(metadata: MetaData) -> Table:
    return Table(
        "quality_gates",
        metadata,
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        Column(
            "testset_id", Number, ForeignKey("testsets.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        Column("metric", Words, nullable=False),
        Column("largest_drop", Float, nullable=False),
        Column("most", Integer, nullable=False),
    )


def _checks(metadata: MetaData) -> Table:
    # The crawl may be forgotten before the check is: no foreign key.
    return Table(
        "gate_checks",
        metadata,
        Column("id", Number, primary_key=True),
        Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        Column("crawl_id", BigInteger, nullable=False),
        Column("generation", Integer, nullable=False),
        Column("at", Moment, nullable=False),
        Column("state", Words, nullable=False),
        Column("decided_by", Words, nullable=False),
        Column("metric", Words, nullable=False),
        Column("before", Float, nullable=False),
        Column("after", Float, nullable=False),
        Column("largest_drop", Float, nullable=False),
        Column("questions", Integer, nullable=False),
        Column("details", Json, nullable=False),
        Index(None, "site_id", "id"),
    )
