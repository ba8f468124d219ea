"""Sites, their content, conversations, crawls, operators and incidents."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text()
INTEGER = sa.Integer()
MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _content()
    _conversations()
    _crawls()
    _operators()


def downgrade() -> None:
    for table in (
        *("incidents", "setup_tokens", "operators", "crawl_urls", "crawls"),
        *("feedback", "messages", "conversations", "chunks", "pages", "sites"),
    ):
        op.drop_table(table)


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def _key(name: str, kind: Any = TEXT, *references: sa.ForeignKey) -> sa.Column[Any]:
    return sa.Column(name, kind, *references, primary_key=True)


def _whole(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, INTEGER, nullable=False) for name in names]


def _site() -> sa.ForeignKey:
    return sa.ForeignKey("sites.id", ondelete="CASCADE")


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, MOMENT, nullable=nullable)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))


def _content() -> None:
    op.create_table(
        "sites",
        _key("id"),
        *_text("name", "title", "start_urls", "origins", "language", "strategy", "flow"),
        sa.Column("allow_private", sa.Boolean(), nullable=False),
        *_text("options"),
        *_whole("generation"),
        _moment("created_at"),
    )
    op.create_table(
        "pages",
        _key("site_id", TEXT, _site()),
        _key("url"),
        sa.Column("born", INTEGER, primary_key=True, autoincrement=False),
        sa.Column("died", INTEGER),
        *_text("title", "language", "content_hash", "etag", "last_modified"),
        *_whole("missed"),
        _moment("fetched_at"),
    )
    op.create_table(
        "chunks",
        _key("site_id", TEXT, _site()),
        _key("id"),
        *_text("url"),
        *_whole("position"),
        *_text("title", "heading_path", "text", "language", "anchor"),
        *_whole("born"),
        sa.Column("died", INTEGER),
    )
    _index("chunks", "site_id", "url", "position")
    _index("chunks", "site_id", "born", "died")
    _index("chunks", "site_id", "died")


def _conversations() -> None:
    op.create_table(
        "conversations",
        _key("id"),
        sa.Column("site_id", TEXT, _site(), nullable=False),
        *_text("visitor_id"),
        _moment("started_at"),
    )
    _index("conversations", "site_id", "started_at")
    _index("conversations", "site_id", "visitor_id")
    op.create_table(
        "messages",
        _key("number", NUMBER),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column(
            "conversation_id", TEXT, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
        ),
        *_text("site_id"),
        _moment("asked_at"),
        *_text("question", "query", "language", "outcome", "text", "citations", "suggestions", "pages"),
        *_text("strategy", "flow", "model", "timings_ms", "trace"),
    )
    _index("messages", "conversation_id")
    _index("messages", "site_id", "asked_at", "outcome")
    op.create_table(
        "feedback",
        _key("message_id", TEXT, sa.ForeignKey("messages.id", ondelete="CASCADE")),
        *_text("visitor_id"),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        *_text("comment"),
        _moment("at"),
    )


def _crawls() -> None:
    op.create_table(
        "crawls",
        _key("id", NUMBER),
        sa.Column("site_id", TEXT, _site(), nullable=False),
        *_text("state"),
        _moment("started_at"),
        _moment("finished_at", nullable=True),
        *_whole("found", "fetched", "indexed"),
        *_text("message"),
    )
    _index("crawls", "site_id", "id")
    op.create_table(
        "crawl_urls",
        _key("crawl_id", NUMBER, sa.ForeignKey("crawls.id", ondelete="CASCADE")),
        _key("url"),
        *_text("state", "reason"),
        *_whole("status"),
        _moment("at"),
    )
    _index("crawl_urls", "crawl_id", "state")


def _operators() -> None:
    op.create_table(
        "operators",
        _key("id", NUMBER),
        sa.Column("email", TEXT, nullable=False, unique=True),
        *_text("password_hash"),
        _moment("created_at"),
    )
    op.create_table("setup_tokens", _key("token_hash"), _moment("made_at"))
    op.create_table(
        "incidents",
        _key("id", NUMBER),
        *_text("site_id", "kind", "message", "details"),
        *_whole("count"),
        _moment("first_at"),
        _moment("at"),
    )
    _index("incidents", "site_id", "at")
    _index("incidents", "site_id", "kind", "first_at")
