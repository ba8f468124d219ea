"""Conversations, messages, and what is counted in them; curated answers and the cost of models.

Triggers of the first migration keep `message_days` and `message_times` correct whoever adds, judges or
deletes messages. Each database declares the full-text index of messages in its own way: see
server.storage.conversations.search.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table

from server.domain.answer import Outcome
from server.storage.columns import Json, Moment, Words
from server.storage.schema.base import (
    Number,
    cascade,
    jsons,
    key,
    metadata,
    moments,
    of_site,
    site_key,
    texts,
)

COUNTED = ("asked", "opened", *(outcome.value for outcome in Outcome), "up", "down", "cost", "tokens")
"""Columns of `message_days`: `opened` counts first questions of conversations, `up` and `down` thumbs."""

conversations = Table(
    "conversations",
    metadata,
    key("id"),
    of_site(),
    *texts("visitor_id"),
    *moments("started_at"),
    # What the visitor read about who answers; empty when the client did not say.
    Column("disclosure", Words, nullable=False, server_default=""),
    Index(None, "site_id", "started_at"),
    Index(None, "site_id", "visitor_id"),
)

messages = Table(
    "messages",
    metadata,
    Column("number", Number, primary_key=True),
    Column("id", Words, nullable=False, unique=True),
    Column("conversation_id", Words, cascade("conversations.id"), nullable=False, index=True),
    *texts("site_id"),
    *moments("asked_at"),
    *texts("question", "query", "language", "outcome", "text"),
    *jsons("citations", "suggestions", "pages"),
    *texts("strategy", "flow", "model"),
    *jsons("timings_ms", "trace"),
    # Counted and filtered by; `figures_of` computes them.
    Column("took_ms", Float, nullable=False, server_default="0"),
    Column("within_ms", Integer, nullable=False, server_default="0"),
    Column("cost", Float, nullable=False, server_default="0"),
    Column("tokens", Integer, nullable=False, server_default="0"),
    Column("turn", Integer, nullable=False, server_default="1"),
    Column("support", Float),
    Column("helpful", Boolean),
    Index(
        "ix_messages_figures",
        *("site_id", "asked_at", "outcome", "helpful", "turn", "language"),
        *("strategy", "support", "within_ms", "cost", "tokens", "conversation_id"),
    ),
)

feedback = Table(
    "feedback",
    metadata,
    Column("message_id", Words, cascade("messages.id"), primary_key=True),
    *texts("visitor_id"),
    Column("helpful", Boolean, nullable=False),
    *texts("comment"),
    *moments("at"),
    Index(None, "at"),
)

# One row for each citation of an answer.
cited = Table(
    "cited",
    metadata,
    Column("message_id", Words, cascade("messages.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *texts("site_id", "url", "quote"),
    *moments("at"),
    # Saves lists of questions a lookup by message id.
    Column("message_number", BigInteger, nullable=False),
    Index(None, "site_id", "url", "at", "message_number"),
)

conversation_labels = Table(
    "conversation_labels",
    metadata,
    Column("conversation_id", Words, cascade("conversations.id"), primary_key=True),
    key("label"),
    *texts("site_id", "operator"),
    *moments("at"),
    Index(None, "site_id", "label"),
)

# What happens once: what the dashboard announces, when it first showed it, and the sites of SITE that were
# added.
notices = Table("notices", metadata, key("name"), *moments("shown_at"))

# Who was erased, as a hash, and when: repeated after the restore of an older backup.
erasures = Table("erasures", metadata, key("visitor"), *moments("at"))

# Sums for each site and day (UTC). Triggers keep them up to date.
message_days = Table(
    "message_days",
    metadata,
    site_key(),
    key("day"),
    *(Column(name, Float if name == "cost" else BigInteger, nullable=False) for name in COUNTED),
)

# Answers of a day that took at most `within_ms` and more than the next smaller step.
message_times = Table(
    "message_times",
    metadata,
    site_key(),
    key("day"),
    Column("within_ms", Integer, primary_key=True, autoincrement=False),
    Column("asked", BigInteger, nullable=False),
)

curated_answers = Table(
    "curated_answers",
    metadata,
    Column("id", Number, primary_key=True),
    of_site(),
    *jsons("questions"),
    *texts("text"),
    *jsons("links"),
    *texts("language"),
    Column("enabled", Boolean, nullable=False),
    *texts("edited_by"),
    *moments("edited_at"),
    # First and last day, as ISO dates.
    Column("valid_from", Words),
    Column("valid_until", Words),
    Column("hits", Integer, nullable=False, server_default="0"),
    Column("last_given", Moment),
    Column("content_check", Json),
    Index(None, "site_id", "id"),
)

# What was spent and reserved of each budget on a day (UTC): of all sites, a site, or a visitor as a hash.
budgets = Table(
    "budgets",
    metadata,
    key("name"),
    key("day"),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Float, nullable=False),
)

# What each model used for each site and day (UTC).
model_usage = Table(
    "model_usage",
    metadata,
    site_key(),
    key("day"),
    key("model"),
    *(Column(name, BigInteger, nullable=False) for name in ("calls", "tokens_in", "tokens_out")),
    Column("cost", Float, nullable=False),
)
