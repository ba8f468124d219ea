"""What operators changed about pages, how the quotes on them stand, and crawls of single pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TEXT = sa.Text()
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "page_decisions",
        _of_site(),
        sa.Column("url", TEXT, primary_key=True),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("excluded", "pinned", "edited")),
        *(sa.Column(name, TEXT, nullable=False) for name in ("title", "text", "accepted_hash", "site_hash")),
        sa.Column("changed_by", TEXT, nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("site_page", TEXT),
    )
    op.create_index("ix_page_decisions_site_id_pinned", "page_decisions", ["site_id", "pinned"])
    op.create_table(
        "page_quotes",
        _of_site(),
        sa.Column("url", TEXT, primary_key=True),
        sa.Column("content_hash", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("checked", "broken")),
        sa.Column("checked_at", MOMENT, nullable=False),
    )
    op.create_index("ix_page_quotes_site_id_broken", "page_quotes", ["site_id", "broken"])
    op.add_column("crawls", sa.Column("kind", TEXT, nullable=False, server_default="site"))
    op.add_column("crawls", sa.Column("url", TEXT, nullable=False, server_default=""))


def _of_site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


def downgrade() -> None:
    op.drop_column("crawls", "url")
    op.drop_column("crawls", "kind")
    op.drop_table("page_quotes")
    op.drop_table("page_decisions")
