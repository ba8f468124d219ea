"""Kind and date of the page that a chunk is of."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0101", "0100"


def upgrade() -> None:
    for name in ("kind", "dated"):
        op.add_column("chunks", sa.Column(name, sa.Text(), nullable=False, server_default=""))
