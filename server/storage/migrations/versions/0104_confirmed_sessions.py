"""When the person behind a session last proved who it is."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0104", "0103"


def upgrade() -> None:
    op.add_column("operator_sessions", sa.Column("confirmed_at", sa.DateTime(timezone=True)))
