"""The sites that each person and each invitation is limited to; null for all."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0106", "0105"


def upgrade() -> None:
    op.add_column("operators", sa.Column("sites", sa.Text()))
    op.add_column("operator_links", sa.Column("sites", sa.Text()))
