"""What each conversation was shown about who answers; empty for older ones."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0114", "0112"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("disclosure", sa.Text(), nullable=False, server_default=""))
