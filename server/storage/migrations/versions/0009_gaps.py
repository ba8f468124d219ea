"""What a site cannot answer, and more about curated answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _gaps()
    _questions()
    op.create_table(
        "gap_events",
        sa.Column("id", NUMBER, primary_key=True),
        _key("gap_id", "gaps.id"),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("action", "by", "details")),
    )
    op.create_index("ix_gap_events_gap_id_id", "gap_events", ["gap_id", "id"])
    op.create_table(
        "gap_marks",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("value", TEXT, nullable=False),
    )
    op.create_index("ix_feedback_at", "feedback", ["at"])
    for name in ("valid_from", "valid_until"):
        op.add_column("curated_answers", sa.Column(name, TEXT))
    op.add_column("curated_answers", sa.Column("hits", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("curated_answers", sa.Column("last_given", MOMENT))
    op.add_column("curated_answers", sa.Column("content_check", TEXT))


def downgrade() -> None:
    for name in ("content_check", "last_given", "hits", "valid_until", "valid_from"):
        op.drop_column("curated_answers", name)
    op.drop_index("ix_feedback_at", "feedback")
    for table in ("gap_marks", "gap_events", "gap_questions", "gaps"):
        op.drop_table(table)


def _gaps() -> None:
    op.create_table(
        "gaps",
        sa.Column("id", TEXT, primary_key=True),
        _key("site_id", "sites.id"),
        *(sa.Column(name, TEXT, nullable=False) for name in ("question", "language", "status")),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("visitors", sa.Integer(), nullable=False),
        sa.Column("first_asked", MOMENT, nullable=False),
        sa.Column("last_asked", MOMENT, nullable=False),
        sa.Column("nearest", TEXT, nullable=False),
        sa.Column("missing", TEXT),
        sa.Column("why", TEXT, nullable=False),
        sa.Column("solved_by", TEXT),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("reasked_at", MOMENT),
        sa.Column("reasked_outcome", TEXT, nullable=False),
        sa.Column("closed_at", MOMENT),
        sa.Column("total", sa.LargeBinary()),
        sa.Column("embedded", sa.Integer(), nullable=False),
    )
    op.create_index("ix_gaps_site_id_status_visitors", "gaps", ["site_id", "status", "visitors"])
    op.create_index("ix_gaps_status_visitors", "gaps", ["status", "visitors"])


def _questions() -> None:
    op.create_table(
        "gap_questions",
        sa.Column("message_id", TEXT, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        _key("gap_id", "gaps.id"),
        *(sa.Column(name, TEXT, nullable=False) for name in ("question", "language", "visitor_id")),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("why", TEXT, nullable=False),
        sa.Column("vector", sa.LargeBinary()),
    )
    op.create_index("ix_gap_questions_gap_id_at", "gap_questions", ["gap_id", "at"])


def _key(name: str, target: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, sa.ForeignKey(target, ondelete="CASCADE"), nullable=False)
