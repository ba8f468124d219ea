"""Roles, second factors, sessions and links of operators; settings, keys and webhooks; what was changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, TEXT, nullable=False) for name in names]


def _moments(*names: str) -> list[sa.Column[object]]:
    return [sa.Column(name, MOMENT, nullable=False) for name in names]


def _key(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=f"fk_{table}_{column}", ondelete="CASCADE")


def upgrade() -> None:
    for name, kind, default in (
        ("role", TEXT, "owner"),
        ("totp_secret", TEXT, ""),
        ("totp_step", NUMBER, "0"),
    ):
        op.add_column("operators", sa.Column(name, kind, nullable=False, server_default=default))
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, primary_key=True),
        *_moments("at"),
        *_texts("operator", "site_id", "action", "details"),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    for column in ("site_id", "operator", "action"):
        op.create_index(f"ix_audit_{column}_at", "audit", [column, "at"])
    _people()
    _settings()
    _events()


def _people() -> None:
    op.create_table(
        "operator_sessions",
        sa.Column("hash", TEXT, primary_key=True),
        *_texts("id"),
        sa.Column("operator_id", NUMBER, nullable=False),
        *_moments("started_at", "seen_at", "ends_at"),
        *_texts("address", "browser"),
        sa.UniqueConstraint("id", name="uq_operator_sessions_id"),
        _key("operator_sessions", "operator_id", "operators.id"),
    )
    for column in ("operator_id", "ends_at"):
        op.create_index(f"ix_operator_sessions_{column}", "operator_sessions", [column])
    op.create_table(
        "operator_links",
        sa.Column("hash", TEXT, primary_key=True),
        *_texts("id", "kind", "email", "role"),
        sa.Column("operator_id", NUMBER),
        *_texts("made_by"),
        *_moments("made_at", "ends_at"),
        sa.UniqueConstraint("id", name="uq_operator_links_id"),
        _key("operator_links", "operator_id", "operators.id"),
    )
    op.create_index("ix_operator_links_operator_id", "operator_links", ["operator_id"])
    op.create_table(
        "recovery_codes",
        sa.Column("operator_id", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("hash", TEXT, primary_key=True),
        _key("recovery_codes", "operator_id", "operators.id"),
    )


def _settings() -> None:
    op.create_table(
        "setting_overrides",
        sa.Column("name", TEXT, primary_key=True),
        *_texts("value"),
        sa.Column("sealed", sa.Boolean(), nullable=False),
        *_moments("at"),
        *_texts("operator"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", TEXT, primary_key=True),
        *_texts("hash", "shown", "name", "scopes"),
        sa.Column("site_id", TEXT),
        *_texts("made_by"),
        *_moments("made_at"),
        sa.Column("ends_at", MOMENT),
        sa.Column("used_at", MOMENT),
        sa.Column("on", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
        _key("api_keys", "site_id", "sites.id"),
    )
    op.create_index("ix_api_keys_site_id", "api_keys", ["site_id"])


def _events() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", TEXT, primary_key=True),
        *_texts("url", "secret", "kinds"),
        sa.Column("site_id", TEXT),
        sa.Column("on", sa.Boolean(), nullable=False, server_default=sa.true()),
        *_moments("made_at"),
        _key("webhooks", "site_id", "sites.id"),
    )
    op.create_index("ix_webhooks_site_id", "webhooks", ["site_id"])
    op.create_table(
        "events",
        sa.Column("id", TEXT, primary_key=True),
        *_texts("key", "kind", "site_id"),
        *_moments("at"),
        *_texts("data"),
        sa.UniqueConstraint("key", name="uq_events_key"),
    )
    op.create_index("ix_events_at", "events", ["at"])
    op.create_table(
        "event_deliveries",
        sa.Column("id", TEXT, primary_key=True),
        *_texts("event_id", "webhook_id", "state"),
        sa.Column("tries", sa.Integer(), nullable=False),
        *_moments("next_at"),
        sa.UniqueConstraint("event_id", "webhook_id", name="uq_event_deliveries_event_id_webhook_id"),
        _key("event_deliveries", "event_id", "events.id"),
        _key("event_deliveries", "webhook_id", "webhooks.id"),
    )
    for column in ("state", "webhook_id"):
        op.create_index(f"ix_event_deliveries_{column}_next_at", "event_deliveries", [column, "next_at"])
    op.create_table(
        "event_tries",
        sa.Column("number", NUMBER, primary_key=True),
        *_texts("delivery_id"),
        *_moments("at"),
        *_texts("target"),
        sa.Column("arrived", sa.Boolean(), nullable=False),
        *_texts("says"),
        _key("event_tries", "delivery_id", "event_deliveries.id"),
    )
    op.create_index("ix_event_tries_delivery_id", "event_tries", ["delivery_id"])


def downgrade() -> None:
    for table in (
        "event_tries",
        "event_deliveries",
        "events",
        "webhooks",
        "api_keys",
        "setting_overrides",
        "recovery_codes",
        "operator_links",
        "operator_sessions",
        "audit",
    ):
        op.drop_table(table)
    for column in ("totp_step", "totp_secret", "role"):
        op.drop_column("operators", column)
