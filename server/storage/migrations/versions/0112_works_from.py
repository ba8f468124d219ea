"""The oldest revision whose code works with these tables, so that older processes know if they may start.

A later migration that removes what older code reads raises it: UPDATE alembic_version SET works_from = '...'.
"""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0112", "0111"


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("works_from", sa.Text()))
    op.execute("UPDATE alembic_version SET works_from = '0112'")
