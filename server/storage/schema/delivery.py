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


def _outbox(kind: str, owner: str, key_of_owner: str, way: Column[str] | None = None) -> tuple[Table, Table]:
    """Return the tables of deliveries of a kind and of their attempts. `way` is where they go if that is no
    channel."""
    way = Column("channel", Words, nullable=False) if way is None else way
    deliveries = Table(
        f"{kind}_deliveries",
        metadata,
        key("id"),
        Column(owner, Words, cascade(key_of_owner), nullable=False),
        way,
        *texts("state"),
        *integers("tries"),
        *moments("next_at"),
        UniqueConstraint(owner, way.name),
        Index(None, "state", "next_at"),
    )
    tries = Table(
        f"{kind}_tries",
        metadata,
        Column("number", Number, primary_key=True),
        Column("delivery_id", Words, cascade(f"{kind}_deliveries.id"), nullable=False, index=True),
        *moments("at"),
        *texts("target"),
        Column("arrived", Boolean, nullable=False),
        *texts("says"),
    )
    return deliveries, tries


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

contact_deliveries, contact_tries = _outbox("contact", "request_id", "contact_requests.id")

# What operators wrote back to visitors.
replies = Table(
    "replies",
    metadata,
    key("id"),
    Column("request_id", Words, cascade("contact_requests.id"), nullable=False, index=True),
    *moments("at"),
    *texts("operator", "text"),
)

reply_deliveries, reply_tries = _outbox("reply", "reply_id", "replies.id")

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

event_deliveries, event_tries = _outbox(
    "event", "event_id", "events.id", Column("webhook_id", Words, cascade("webhooks.id"), nullable=False)
)
Index(None, event_deliveries.c.webhook_id, event_deliveries.c.next_at)
