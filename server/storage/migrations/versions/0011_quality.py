"""Test sets, their runs, and the playground."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _testsets()
    _runs()
    _gates()
    _playground()


def _of_site(*, key: bool = False) -> sa.Column[str]:
    site = sa.ForeignKey("sites.id", ondelete="CASCADE")
    return sa.Column("site_id", TEXT, site, primary_key=key, nullable=False)


def _testsets() -> None:
    op.create_table(
        "testsets",
        sa.Column("id", NUMBER, primary_key=True),
        _of_site(),
        *(sa.Column(name, TEXT, nullable=False) for name in ("name", "origin", "state", "holder")),
        sa.Column("beat_at", MOMENT),
        *(sa.Column(name, TEXT, nullable=False) for name in ("chosen", "message")),
        *(sa.Column(name, MOMENT, nullable=False) for name in ("made_at", "changed_at")),
    )
    op.create_index("ix_testsets_site_id_id", "testsets", ["site_id", "id"])
    op.create_index("ix_testsets_state_id", "testsets", ["state", "id"])
    op.create_table(
        "test_cases",
        sa.Column("testset_id", NUMBER, sa.ForeignKey("testsets.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("case_id", "question", "type")),
        sa.Column("answerable", sa.Boolean(), nullable=False),
        sa.Column("line", TEXT, nullable=False),
        sa.UniqueConstraint("testset_id", "case_id", name="uq_test_cases_testset_id_case_id"),
    )


def _runs() -> None:
    op.create_table(
        "quality_runs",
        sa.Column("id", NUMBER, primary_key=True),
        _of_site(),
        sa.Column("testset_id", NUMBER, sa.ForeignKey("testsets.id", ondelete="SET NULL")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("testset_name", "state", "wanted", "holder")),
        sa.Column("beat_at", MOMENT),
        sa.Column("queued_at", MOMENT, nullable=False),
        *(sa.Column(name, MOMENT) for name in ("started_at", "finished_at")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("chosen", "step")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("done", "total")),
        sa.Column("message", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("generation", "questions")),
        sa.Column("summary", TEXT, nullable=False),
    )
    op.create_index("ix_quality_runs_testset_id", "quality_runs", ["testset_id"])
    op.create_index("ix_quality_runs_site_id_id", "quality_runs", ["site_id", "id"])
    op.create_index("ix_quality_runs_state_id", "quality_runs", ["state", "id"])
    run_id = sa.ForeignKey("quality_runs.id", ondelete="CASCADE")
    op.create_table(
        "quality_reports",
        sa.Column("run_id", NUMBER, run_id, primary_key=True),
        sa.Column("part", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "quality_answers",
        sa.Column("run_id", NUMBER, sa.ForeignKey("quality_runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("way", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("case_id", TEXT, primary_key=True),
        sa.Column("body", TEXT, nullable=False),
    )


def _gates() -> None:
    op.create_table(
        "quality_gates",
        _of_site(key=True),
        sa.Column("testset_id", NUMBER, sa.ForeignKey("testsets.id", ondelete="CASCADE"), nullable=False),
        sa.Column("metric", TEXT, nullable=False),
        sa.Column("largest_drop", sa.Float(), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
    )
    op.create_index("ix_quality_gates_testset_id", "quality_gates", ["testset_id"])
    op.create_table(
        "gate_checks",
        sa.Column("id", NUMBER, primary_key=True),
        _of_site(),
        sa.Column("crawl_id", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("state", "decided_by", "metric")),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("before", "after", "largest_drop")),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("details", TEXT, nullable=False),
    )
    op.create_index("ix_gate_checks_site_id_id", "gate_checks", ["site_id", "id"])


def _playground() -> None:
    op.create_table(
        "playground_runs",
        sa.Column("id", TEXT, primary_key=True),
        _of_site(),
        sa.Column("asked_at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("asked_by", "question", "asked")),
    )
    op.create_index("ix_playground_runs_site_id_asked_at", "playground_runs", ["site_id", "asked_at"])
    op.create_index("ix_playground_runs_asked_at", "playground_runs", ["asked_at"])
    run_id = sa.ForeignKey("playground_runs.id", ondelete="CASCADE")
    op.create_table(
        "playground_ways",
        sa.Column("run_id", TEXT, run_id, primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("state", "result")),
    )


def downgrade() -> None:
    op.drop_table("playground_ways")
    op.drop_table("playground_runs")
    for name in ("gate_checks", "quality_gates", "quality_answers", "quality_reports", "quality_runs"):
        op.drop_table(name)
    op.drop_table("test_cases")
    op.drop_table("testsets")
