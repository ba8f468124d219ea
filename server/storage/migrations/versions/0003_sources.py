"""Files, lists of addresses and questions with answers that a site is made of beside its website."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXT = sa.Text()
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "sources",
        _site(),
        _key("id"),
        *_text("kind", "name", "options", "digest"),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("read_at", MOMENT),
        *_text("message"),
    )
    op.create_table(
        "source_items",
        _key("site_id"),
        _key("source_id"),
        _key("url"),
        *_text("name", "state", "reason", "content_hash"),
        sa.Column("missed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id", "source_id"], ["sources.site_id", "sources.id"], ondelete="CASCADE"
        ),
    )
    op.create_table(
        "source_pages", _site(), _key("url"), _key("content_hash"), *_text("page", "digest", "name")
    )
    op.create_table(
        "source_blobs",
        _site(),
        _key("digest"),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_index("ix_source_blobs_site_id_size", "source_blobs", ["site_id", "size"])


def downgrade() -> None:
    for table in ("source_blobs", "source_pages", "source_items", "sources"):
        op.drop_table(table)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, primary_key=True)


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def _site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
