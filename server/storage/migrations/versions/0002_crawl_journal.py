"""Crawls that go on where they were cut off, schedules, and pages that keep their history when they move."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text()
MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

NEW_COLUMNS: dict[str, tuple[tuple[str, Any, Any], ...]] = {
    # name, type, what the rows that are there get; None: nothing, and the column may be empty
    "pages": (
        ("first_seen_at", MOMENT, None),
        ("missed_in", sa.BigInteger(), "0"),
        ("indexed", sa.Boolean(), sa.true()),
        ("source", TEXT, ""),
    ),
    "crawls": (
        ("wanted", TEXT, ""),
        ("holder", TEXT, ""),
        ("beat_at", MOMENT, None),
        ("rate", sa.Float(), "0"),
        ("remaining_s", sa.Integer(), None),
        ("counts", TEXT, None),
    ),
    "crawl_urls": (
        ("depth", sa.Integer(), "0"),
        ("hops", sa.Integer(), "0"),
        ("found_on", TEXT, ""),
        ("content_hash", TEXT, ""),
        ("fingerprint", sa.BigInteger(), "0"),
        ("settled", sa.Boolean(), sa.false()),
        ("visit", TEXT, None),
    ),
}
NEW_TABLES = ("schedules", "site_notes", "crawl_notes", "page_moves")


def upgrade() -> None:
    for table, columns in NEW_COLUMNS.items():
        for name, kind, default in columns:
            op.add_column(table, sa.Column(name, kind, nullable=default is None, server_default=default))
    op.execute("UPDATE pages SET first_seen_at = fetched_at")
    op.execute("UPDATE crawl_urls SET settled = true")
    op.drop_index("ix_crawl_urls_crawl_id_state", "crawl_urls")
    op.create_index("ix_crawl_urls_crawl_id_state_url", "crawl_urls", ["crawl_id", "state", "url"])
    _tables()


def downgrade() -> None:
    for table in NEW_TABLES:
        op.drop_table(table)
    op.drop_index("ix_crawl_urls_crawl_id_state_url", "crawl_urls")
    op.create_index("ix_crawl_urls_crawl_id_state", "crawl_urls", ["crawl_id", "state"])
    for table, columns in NEW_COLUMNS.items():
        for name, _, _ in columns:
            op.drop_column(table, name)


def _tables() -> None:
    op.create_table(
        "page_moves",
        _site(),
        sa.Column("old_url", TEXT, primary_key=True),
        *_text("new_url"),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_table(
        "crawl_notes",
        sa.Column("crawl_id", NUMBER, sa.ForeignKey("crawls.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", TEXT, primary_key=True),
        *_text("value"),
    )
    op.create_table("site_notes", _site(), sa.Column("name", TEXT, primary_key=True), *_text("value"))
    op.create_table("schedules", _site(), *_text("every"), sa.Column("next_at", MOMENT, nullable=False))
    op.create_index("ix_schedules_next_at", "schedules", ["next_at"])


def _site() -> sa.Column[str]:
    return sa.Column("site_id", TEXT, sa.ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]
