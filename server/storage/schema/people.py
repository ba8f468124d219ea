"""Operators, their sessions, links and passkeys, API keys, changed settings, and the audit log."""

from sqlalchemy import Boolean, Column, Index, Table, true

from server.storage.columns import Json, Moment, Words
from server.storage.schema.base import SEALED, Number, cascade, jsons, key, metadata, moments, texts

operators = Table(
    "operators",
    metadata,
    Column("id", Number, primary_key=True),
    Column("email", Words, nullable=False, unique=True),
    *texts("password_hash"),
    *moments("created_at"),
    Column("role", Words, nullable=False, server_default="owner"),
    Column("totp_secret", Words, nullable=False, server_default="", info={SEALED: True}),
    Column("totp_step", Number, nullable=False, server_default="0"),
    # Ids of the sites that this person sees. Null: every site.
    Column("sites", Json),
    # In which this person reads the dashboard. Empty: what the browser asks for.
    Column("language", Words, nullable=False, server_default=""),
    # Whether this person gets the weekly digest. Null: owners do.
    Column("digest", Boolean),
    # Monday of the week in which the last digest was sent, as an ISO date.
    Column("digest_week", Words, nullable=False, server_default=""),
)

# Who is logged in, and from where.
operator_sessions = Table(
    "operator_sessions",
    metadata,
    key("hash"),
    Column("id", Words, nullable=False, unique=True),
    Column("operator_id", Number, cascade("operators.id"), nullable=False, index=True),
    *moments("started_at", "seen_at"),
    Column("ends_at", Moment, nullable=False, index=True),
    *texts("address", "browser"),
    # When the person last proved who it is; null for sessions of before 0104.
    Column("confirmed_at", Moment),
)

# Links that work once: invitations and password resets.
operator_links = Table(
    "operator_links",
    metadata,
    key("hash"),
    Column("id", Words, nullable=False, unique=True),
    *texts("kind", "email", "role"),
    Column("operator_id", Number, cascade("operators.id"), index=True),
    *texts("made_by"),
    *moments("made_at", "ends_at"),
    Column("sites", Json),
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("operator_id", Number, cascade("operators.id"), primary_key=True, autoincrement=False),
    key("hash"),
)

passkeys = Table(
    "passkeys",
    metadata,
    key("id"),
    Column("operator_id", Number, cascade("operators.id"), nullable=False, index=True),
    Column("credential", Words, nullable=False, unique=True),
    *texts("handle", "public_key", "name"),
    Column("sign_count", Number, nullable=False),
    *moments("made_at"),
    Column("used_at", Moment),
)

# Accounts of the provider of single sign-on that open an operator's account.
operator_identities = Table(
    "operator_identities",
    metadata,
    key("issuer"),
    key("subject"),
    Column("operator_id", Number, cascade("operators.id"), nullable=False, index=True),
    *moments("made_at", "used_at"),
)

setup_tokens = Table("setup_tokens", metadata, key("token_hash"), *moments("made_at"))

# No foreign keys: entries outlive their operator and their site. Triggers refuse any change of a row.
audit = Table(
    "audit",
    metadata,
    Column("id", Number, primary_key=True),
    *moments("at"),
    *texts("operator", "site_id", "action"),
    *jsons("details"),
    Column("hash", Words, nullable=False, server_default=""),
    Index(None, "action", "at"),
    Index(None, "at"),
    Index(None, "operator", "at"),
    Index(None, "site_id", "at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    key("id"),
    Column("hash", Words, nullable=False, unique=True),
    *texts("shown", "name"),
    *jsons("scopes"),
    # Null: every site.
    Column("site_id", Words, cascade("sites.id"), index=True),
    *texts("made_by"),
    *moments("made_at"),
    Column("ends_at", Moment),
    Column("used_at", Moment),
    Column("on", Boolean, nullable=False, server_default=true()),
    Column("networks", Json),
)

# Settings that were changed on the dashboard.
setting_overrides = Table(
    "setting_overrides",
    metadata,
    key("name"),
    Column("value", Words, nullable=False, info={SEALED: True}),
    Column("sealed", Boolean, nullable=False),
    *moments("at"),
    *texts("operator"),
)
