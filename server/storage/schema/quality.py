"""Test sets, their runs, quality gates, runs of the playground, and questions that a site cannot answer."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    UniqueConstraint,
    false,
)

from server.storage.columns import Json, Moment, Words
from server.storage.schema.base import (
    Number,
    cascade,
    integers,
    jsons,
    key,
    metadata,
    moments,
    of_site,
    site_key,
    texts,
)

testsets = Table(
    "testsets",
    metadata,
    Column("id", Number, primary_key=True),
    of_site(),
    *texts("name", "origin", "state", "holder"),
    Column("beat_at", Moment),
    *jsons("chosen"),
    *texts("message"),
    *moments("made_at", "changed_at"),
    Index(None, "site_id", "id"),
    Index(None, "state", "id"),
)

test_cases = Table(
    "test_cases",
    metadata,
    Column("testset_id", Number, cascade("testsets.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *texts("case_id", "question", "type"),
    Column("answerable", Boolean, nullable=False),
    *texts("line"),
    # A copy of a visitor's words, which goes when the visitor is erased.
    Column("from_visitor", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("testset_id", "case_id"),
)

quality_runs = Table(
    "quality_runs",
    metadata,
    Column("id", Number, primary_key=True),
    of_site(),
    Column("testset_id", Number, ForeignKey("testsets.id", ondelete="SET NULL"), index=True),
    *texts("testset_name", "state", "wanted", "holder"),
    Column("beat_at", Moment),
    *moments("queued_at"),
    Column("started_at", Moment),
    Column("finished_at", Moment),
    *jsons("chosen"),
    *texts("step"),
    *integers("done", "total"),
    *texts("message"),
    *integers("generation", "questions"),
    *jsons("summary"),
    Index(None, "site_id", "id"),
    Index(None, "state", "id"),
)

# Part 0 is the report without its rows, part n the rows of variant n.
quality_reports = Table(
    "quality_reports",
    metadata,
    Column("run_id", Number, cascade("quality_runs.id"), primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)

# What each variant answered to each question of a run.
quality_answers = Table(
    "quality_answers",
    metadata,
    Column("run_id", Number, cascade("quality_runs.id"), primary_key=True),
    Column("way", Integer, primary_key=True, autoincrement=False),
    key("case_id"),
    *jsons("body"),
)

# How a new index of a site is measured before it goes live.
quality_gates = Table(
    "quality_gates",
    metadata,
    site_key(),
    Column("testset_id", Number, cascade("testsets.id"), nullable=False, index=True),
    *texts("metric"),
    Column("largest_drop", Float, nullable=False),
    *integers("most"),
)

# The crawl may be deleted before the check is: no foreign key.
gate_checks = Table(
    "gate_checks",
    metadata,
    Column("id", Number, primary_key=True),
    of_site(),
    Column("crawl_id", BigInteger, nullable=False),
    *integers("generation"),
    *moments("at"),
    *texts("state", "decided_by", "metric"),
    Column("before", Float, nullable=False),
    Column("after", Float, nullable=False),
    Column("largest_drop", Float, nullable=False),
    *integers("questions"),
    *jsons("details"),
    Index(None, "site_id", "id"),
)


gaps = Table(
    "gaps",
    metadata,
    key("id"),
    of_site(),
    *texts("question", "language", "status"),
    *integers("asked", "visitors"),
    *moments("first_asked", "last_asked"),
    *jsons("nearest"),
    Column("missing", Json),
    *jsons("why"),
    Column("solved_by", Json),
    *texts("note"),
    Column("reasked_at", Moment),
    *texts("reasked_outcome"),
    Column("closed_at", Moment),
    # Sum of the vectors of its questions, 32-bit floats.
    Column("total", LargeBinary),
    *integers("embedded"),
    Column("kind", Words, nullable=False, server_default="missing"),
    # Who chose the kind; empty where Docent did.
    Column("sorted_by", Words, nullable=False, server_default=""),
    # E-mail address of an operator.
    Column("assigned_to", Words, nullable=False, server_default=""),
    Index(None, "site_id", "status", "visitors"),
    Index(None, "status", "visitors"),
    Index(None, "kind", "status", "visitors"),
)

gap_questions = Table(
    "gap_questions",
    metadata,
    Column("message_id", Words, cascade("messages.id"), primary_key=True),
    Column("gap_id", Words, cascade("gaps.id"), nullable=False),
    *texts("question", "language", "visitor_id"),
    *moments("at"),
    *texts("why"),
    # 16-bit floats: half the space, and no comparison sees the difference.
    Column("vector", LargeBinary),
    Index(None, "gap_id", "at"),
)

# What happened to each gap.
gap_events = Table(
    "gap_events",
    metadata,
    Column("id", Number, primary_key=True),
    Column("gap_id", Words, cascade("gaps.id"), nullable=False),
    *moments("at"),
    *texts("action", "by"),
    *jsons("details"),
    Index(None, "gap_id", "id"),
)

# How far the messages were processed, by name.
gap_marks = Table("gap_marks", metadata, key("name"), *texts("value"))


playground_runs = Table(
    "playground_runs",
    metadata,
    key("id"),
    of_site(),
    *moments("asked_at"),
    *texts("asked_by", "question"),
    *jsons("asked"),
    Index(None, "asked_at"),
    Index(None, "site_id", "asked_at"),
)

# One row for each variant, because variants finish at different times.
playground_ways = Table(
    "playground_ways",
    metadata,
    Column("run_id", Words, cascade("playground_runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *texts("state"),
    *jsons("result"),
)
