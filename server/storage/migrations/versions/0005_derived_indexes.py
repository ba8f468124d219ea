"""Derived indexes of strategies, replies of models that they were made from, and facts of pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TEXT = sa.Text()


def _site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    op.create_table(
        "derived_indexes",
        _site(),
        sa.Column("key", TEXT, primary_key=True),
        sa.Column("generation", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("signature", TEXT, nullable=False),
        sa.Column("figures", TEXT, nullable=False),
        sa.Column("built_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "model_replies",
        _site(),
        sa.Column("key", TEXT, primary_key=True),
        *(sa.Column(name, TEXT, nullable=False) for name in ("kind", "reply")),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "page_facts",
        _site(),
        sa.Column("url", TEXT, primary_key=True),
        sa.Column("facts", TEXT, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("page_facts")
    op.drop_table("model_replies")
    op.drop_table("derived_indexes")
