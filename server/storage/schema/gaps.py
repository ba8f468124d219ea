"""Questions that a site cannot answer."""

from sqlalchemy import Column, Index, LargeBinary, Table

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
    texts,
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
    Index(None, "site_id", "status", "visitors"),
    Index(None, "status", "visitors"),
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
