"""The secrets of each site, sealed: of its contact webhook, and the headers that its crawls send.

Earlier versions kept both in `options` as plain text, where they are still read.
"""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0117", "0116"


def upgrade() -> None:
    for name in ("contact_secret", "crawl_headers"):
        op.add_column("sites", sa.Column(name, sa.Text(), nullable=False, server_default=""))
