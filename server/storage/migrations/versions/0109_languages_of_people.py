"""The language in which each person reads the dashboard; empty for what the browser asks for."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0109", "0108"


def upgrade() -> None:
    op.add_column("operators", sa.Column("language", sa.Text(), nullable=False, server_default=""))
