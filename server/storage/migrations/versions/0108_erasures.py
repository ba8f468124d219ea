"""Erasures, copies of visitors' words in test sets, budgets, and notices of the dashboard."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0108", "0107"


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("visitor", sa.Text(), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "notices",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("shown_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "budgets",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("day", sa.Text(), primary_key=True),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
    )
    copied: sa.Column[bool] = sa.Column(
        "from_visitor", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("test_cases", copied)
    op.execute(
        "UPDATE test_cases SET from_visitor = (1 = 1) WHERE question IN (SELECT question FROM messages) "
        "OR testset_id IN (SELECT id FROM testsets WHERE origin = 'conversations')"
    )
