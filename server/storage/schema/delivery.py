"""Messages to people, replies, events and webhooks, with their deliveries. One outbox sends them all."""

from sqlalchemy import Boolean, Column, Index, Table, UniqueConstraint, true

from server.storage.columns import Words
from server.storage.schema.base import (
    SEALED,
    Number,
    cascade,
    integers,
    jsons,
    key,
    metadata,
    moments,
    of_site,
    texts,
)

contact_requests = Table(
    "contact_requests",
    metadata,
    key("id"),
    of_site(),
    Column("reference", Words, nullable=False, unique=True),
    *texts("visitor_id"),
    Column("conversation_id", Words, cascade("conversations.id"), index=True),
    *moments("at"),
    *texts("email", "message"),
    Index(None, "site_id", "at"),
    Index(None, "site_id", "visitor_id"),
)

contact_deliveries = Table(
    "contact_deliveries",
    metadata,
    key("id"),
    Column("request_id", Words, cascade("contact_requests.id"), nullable=False),
    *texts("channel", "state"),
    *integers("tries"),
    *moments("next_at"),
    UniqueConstraint("request_id", "channel"),
    Index(None, "state", "next_at"),
)

contact_tries = Table(
    "contact_tries",
    metadata,
    Column("number", Number, primary_key=True),
    Column("delivery_id", Words, cascade("contact_deliveries.id"), nullable=False, index=True),
    *moments("at"),
    *texts("target"),
    Column("arrived", Boolean, nullable=False),
    *texts("says"),
)

# What operators wrote back to visitors.
replies = Table(
    "replies",
    metadata,
    key("id"),
    Column("request_id", Words, cascade("contact_requests.id"), nullable=False, index=True),
    *moments("at"),
    *texts("operator", "text"),
)

reply_deliveries = Table(
    "reply_deliveries",
    metadata,
    key("id"),
    Column("reply_id", Words, cascade("replies.id"), nullable=False),
    *texts("channel", "state"),
    *integers("tries"),
    *moments("next_at"),
    UniqueConstraint("reply_id", "channel"),
    Index(None, "state", "next_at"),
)

reply_tries = Table(
    "reply_tries",
    metadata,
    Column("number", Number, primary_key=True),
    Column("delivery_id", Words, cascade("reply_deliveries.id"), nullable=False, index=True),
    *moments("at"),
    *texts("target"),
    Column("arrived", Boolean, nullable=False),
    *texts("says"),
)

webhooks = Table(
    "webhooks",
    metadata,
    key("id"),
    *texts("url"),
    Column("secret", Words, nullable=False, info={SEALED: True}),
    *jsons("kinds"),
    # Null: every site.
    Column("site_id", Words, cascade("sites.id"), index=True),
    Column("on", Boolean, nullable=False, server_default=true()),
    *moments("made_at"),
)

# No foreign key: the event may be that the site was removed.
events = Table(
    "events",
    metadata,
    key("id"),
    Column("key", Words, nullable=False, unique=True),
    *texts("kind", "site_id"),
    *moments("at"),
    *jsons("data"),
    Index(None, "at"),
)

event_deliveries = Table(
    "event_deliveries",
    metadata,
    key("id"),
    Column("event_id", Words, cascade("events.id"), nullable=False),
    Column("webhook_id", Words, cascade("webhooks.id"), nullable=False),
    *texts("state"),
    *integers("tries"),
    *moments("next_at"),
    UniqueConstraint("event_id", "webhook_id"),
    Index(None, "state", "next_at"),
    Index(None, "webhook_id", "next_at"),
)

event_tries = Table(
    "event_tries",
    metadata,
    Column("number", Number, primary_key=True),
    Column("delivery_id", Words, cascade("event_deliveries.id"), nullable=False, index=True),
    *moments("at"),
    *texts("target"),
    Column("arrived", Boolean, nullable=False),
    *texts("says"),
)
