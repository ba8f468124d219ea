"""Answers that operators write, and what models cost each site a day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "curated_answers",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("questions", "text", "links", "language")),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("edited_by", TEXT, nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_curated_answers_site_id_id", "curated_answers", ["site_id", "id"])
    op.create_table(
        "model_usage",
        sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("day", TEXT, primary_key=True),
        sa.Column("model", TEXT, primary_key=True),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("calls", "tokens_in", "tokens_out")),
        sa.Column("cost", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("model_usage")
    op.drop_table("curated_answers")
