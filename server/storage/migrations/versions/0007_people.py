"""Roles of operators, and what they changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("operators", sa.Column("role", TEXT, nullable=False, server_default="owner"))
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("at", MOMENT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("operator", "site_id", "action", "details")),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_index("ix_audit_site_id_at", "audit", ["site_id", "at"])


def downgrade() -> None:
    op.drop_table("audit")
    op.drop_column("operators", "role")
