"""Vectors of the tokens of chunks, beside those of their sentences. The table is created on first use."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0116", "0115"


def upgrade() -> None:
    if sa.inspect(op.get_bind()).has_table("sentence_vectors"):
        op.add_column("sentence_vectors", sa.Column("tokens", sa.LargeBinary()))
