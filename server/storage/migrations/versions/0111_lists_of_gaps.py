"""The list of each gap and who looks after it; who gets the weekly digest, and the last one sent."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0111", "0109"


def upgrade() -> None:
    for name, usual in (("kind", "missing"), ("sorted_by", ""), ("assigned_to", "")):
        op.add_column("gaps", sa.Column(name, sa.Text(), nullable=False, server_default=usual))
    op.create_index("ix_gaps_kind_status_visitors", "gaps", ["kind", "status", "visitors"])
    op.add_column("operators", sa.Column("digest", sa.Boolean()))
    op.add_column("operators", sa.Column("digest_week", sa.Text(), nullable=False, server_default=""))
