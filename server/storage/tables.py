"""The tables, as the newest migration leaves them (a test compares the two)."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    false,
    true,
)

from server.storage.answer_tables import answer_tables
from server.storage.columns import Json, Moment, Path, Words
from server.storage.contact_tables import contact_tables
from server.storage.derived_tables import derived_tables
from server.storage.dialogue_tables import dialogue_tables
from server.storage.gap_tables import gap_tables
from server.storage.page_tables import page_tables
from server.storage.people_tables import people_tables
from server.storage.playground_tables import playground_tables
from server.storage.quality_tables import quality_tables
from server.storage.source_tables import source_tables

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only in a column whose type is exactly INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")


def _of_site() -> Column[str]:
    return Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), nullable=False)


def _of_site_in_key() -> Column[str]:
    return Column("site_id", Words, ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)


sites = Table(
    "sites",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("start_urls", Json, nullable=False),
    Column("origins", Json, nullable=False),
    Column("language", Words, nullable=False),
    Column("strategy", Words, nullable=False),
    Column("flow", Words, nullable=False),
    Column("allow_private", Boolean, nullable=False),
    Column("options", Json, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("leaving", Boolean, nullable=False, server_default=false()),
)

# A page and a chunk are live in generation g when born <= g and (died is null or died > g).
pages = Table(
    "pages",
    metadata,
    _of_site_in_key(),
    Column("url", Words, primary_key=True),
    Column("born", Integer, primary_key=True, autoincrement=False),
    Column("died", Integer),
    Column("title", Words, nullable=False),
    Column("language", Words, nullable=False),
    Column("content_hash", Words, nullable=False),
    Column("etag", Words, nullable=False),
    Column("last_modified", Words, nullable=False),
    Column("missed", Integer, nullable=False),
    Column("fetched_at", Moment, nullable=False),
    Column("first_seen_at", Moment),
    Column("missed_in", BigInteger, nullable=False, server_default="0"),
    Column("indexed", Boolean, nullable=False, server_default=true()),
    Column("source", Words, nullable=False, server_default=""),
)

# Where a page went, so that it keeps its history under the new address.
page_moves = Table(
    "page_moves",
    metadata,
    _of_site_in_key(),
    Column("old_url", Words, primary_key=True),
    Column("new_url", Words, nullable=False),
    Column("at", Moment, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    _of_site_in_key(),
    Column("id", Words, primary_key=True),
    Column("url", Words, nullable=False),
    Column("position", Integer, nullable=False),
    Column("title", Words, nullable=False),
    Column("heading_path", Path, nullable=False),
    Column("text", Words, nullable=False),
    Column("language", Words, nullable=False),
    Column("anchor", Words, nullable=False),
    Column("born", Integer, nullable=False),
    Column("died", Integer),
    Index(None, "site_id", "url", "position"),
    Index(None, "site_id", "born", "died"),
    Index(None, "site_id", "died"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Words, primary_key=True),
    _of_site(),
    Column("visitor_id", Words, nullable=False),
    Column("started_at", Moment, nullable=False),
    Index(None, "site_id", "started_at"),
    Index(None, "site_id", "visitor_id"),
)

messages = Table(
    "messages",
    metadata,
    Column("number", Number, primary_key=True),
    Column("id", Words, nullable=False, unique=True),
    Column(
        "conversation_id",
        Words,
        ForeignKey("conversations.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("site_id", Words, nullable=False),
    Column("asked_at", Moment, nullable=False),
    Column("question", Words, nullable=False),
    Column("query", Words, nullable=False),
    Column("language", Words, nullable=False),
    Column("outcome", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("citations", Json, nullable=False),
    Column("suggestions", Json, nullable=False),
    Column("pages", Json, nullable=False),
    Column("strategy", Words, nullable=False),
    Column("flow", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("timings_ms", Json, nullable=False),
    Column("trace", Json, nullable=False),
    # What is counted and filtered by; server.storage.message_figures reads it off the answer.
    Column("took_ms", Float, nullable=False, server_default="0"),
    Column("within_ms", Integer, nullable=False, server_default="0"),
    Column("cost", Float, nullable=False, server_default="0"),
    Column("tokens", Integer, nullable=False, server_default="0"),
    Column("turn", Integer, nullable=False, server_default="1"),
    Column("support", Float),
    Column("helpful", Boolean),
    # Answers every list and count by itself: rows are long, and only those that are shown are read.
    Index(
        "ix_messages_figures",
        *("site_id", "asked_at", "outcome", "helpful", "turn", "language", "strategy", "support"),
        *("within_ms", "cost", "tokens", "conversation_id"),
    ),
)

feedback = Table(
    "feedback",
    metadata,
    Column("message_id", Words, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("visitor_id", Words, nullable=False),
    Column("helpful", Boolean, nullable=False),
    Column("comment", Words, nullable=False),
    Column("at", Moment, nullable=False),
    Index(None, "at"),
)

crawls = Table(
    "crawls",
    metadata,
    Column("id", Number, primary_key=True),
    _of_site(),
    Column("state", Words, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Column("found", Integer, nullable=False),
    Column("fetched", Integer, nullable=False),
    Column("indexed", Integer, nullable=False),
    Column("message", Words, nullable=False),
    Column("wanted", Words, nullable=False, server_default=""),
    Column("holder", Words, nullable=False, server_default=""),
    Column("beat_at", Moment),
    Column("rate", Float, nullable=False, server_default="0"),
    Column("remaining_s", Integer),
    Column("counts", Json),
    Column("kind", Words, nullable=False, server_default="site"),
    Column("url", Words, nullable=False, server_default=""),
    Index(None, "site_id", "id"),
)

crawl_urls = Table(
    "crawl_urls",
    metadata,
    Column("crawl_id", Number, primary_key=True),
    Column("url", Words, primary_key=True),
    Column("state", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("status", Integer, nullable=False),
    Column("at", Moment, nullable=False),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("hops", Integer, nullable=False, server_default="0"),
    Column("found_on", Words, nullable=False, server_default=""),
    Column("content_hash", Words, nullable=False, server_default=""),
    Column("fingerprint", BigInteger, nullable=False, server_default="0"),
    Column("settled", Boolean, nullable=False, server_default=false()),
    # Last, for it may be long: reading the others does not read it.
    Column("visit", Words),
    ForeignKeyConstraint(["crawl_id"], ["crawls.id"], ondelete="CASCADE"),
    Index(None, "crawl_id", "state", "url"),
)

crawl_notes = Table(
    "crawl_notes",
    metadata,
    Column("crawl_id", Number, ForeignKey("crawls.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Words, primary_key=True),
    Column("value", Words, nullable=False),
)

# What the crawls of a site leave behind for the next one.
site_notes = Table(
    "site_notes",
    metadata,
    _of_site_in_key(),
    Column("name", Words, primary_key=True),
    Column("value", Words, nullable=False),
)

schedules = Table(
    "schedules",
    metadata,
    _of_site_in_key(),
    Column("every", Words, nullable=False),
    Column("next_at", Moment, nullable=False),
    Index(None, "next_at"),
)

operators = Table(
    "operators",
    metadata,
    Column("id", Number, primary_key=True),
    Column("email", Words, nullable=False, unique=True),
    Column("password_hash", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("role", Words, nullable=False, server_default="owner"),
    Column("totp_secret", Words, nullable=False, server_default=""),
    Column("totp_step", Number, nullable=False, server_default="0"),
)

setup_tokens = Table(
    "setup_tokens",
    metadata,
    Column("token_hash", Words, primary_key=True),
    Column("made_at", Moment, nullable=False),
)

# No foreign key: what went wrong may concern no site, and must be kept all the same.
incidents = Table(
    "incidents",
    metadata,
    Column("id", Number, primary_key=True),
    Column("site_id", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("message", Words, nullable=False),
    Column("details", Json, nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_at", Moment, nullable=False),
    Column("at", Moment, nullable=False),
    Index(None, "site_id", "at"),
    Index(None, "site_id", "kind", "first_at"),
)

of_sources = source_tables(metadata)
of_answers = answer_tables(metadata)
of_derived = derived_tables(metadata)
of_contact = contact_tables(metadata)
of_people = people_tables(metadata)
of_dialogue = dialogue_tables(metadata)
of_gaps = gap_tables(metadata)
of_pages = page_tables(metadata)
of_quality = quality_tables(metadata)
of_playground = playground_tables(metadata)
