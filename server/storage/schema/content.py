"""Pages, chunks, sources, and what is derived from them."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    true,
)

from server.storage.columns import Json, Moment, Path
from server.storage.schema.base import (
    blanks,
    flags,
    integers,
    jsons,
    key,
    metadata,
    moments,
    site_key,
    texts,
)

# A page and a chunk are live in generation g when born <= g and (died is null or died > g).
pages = Table(
    "pages",
    metadata,
    site_key(),
    key("url"),
    Column("born", Integer, primary_key=True, autoincrement=False),
    Column("died", Integer),
    *texts("title", "language", "content_hash", "etag", "last_modified"),
    *integers("missed"),
    *moments("fetched_at"),
    Column("first_seen_at", Moment),
    Column("missed_in", BigInteger, nullable=False, server_default="0"),
    Column("indexed", Boolean, nullable=False, server_default=true()),
    *blanks("source", "variant_group"),
    Index(None, "site_id", "variant_group"),
)

chunks = Table(
    "chunks",
    metadata,
    site_key(),
    key("id"),
    *texts("url"),
    *integers("position"),
    *texts("title"),
    Column("heading_path", Path, nullable=False),
    *texts("text", "language", "anchor"),
    *integers("born"),
    Column("died", Integer),
    *blanks("kind", "dated", "ended"),
    Index(None, "site_id", "born", "died"),
    Index(None, "site_id", "died"),
    Index(None, "site_id", "url", "position"),
)

# Old and new address of a page that moved, so that it keeps its history.
page_moves = Table("page_moves", metadata, site_key(), key("old_url"), *texts("new_url"), *moments("at"))

# What the last crawl found on each page in addition to its text.
page_facts = Table("page_facts", metadata, site_key(), key("url"), *jsons("facts"))

# What the site says of itself, from the last crawl, with the operators' corrections.
site_facts = Table(
    "site_facts",
    metadata,
    site_key(),
    key("id"),
    *integers("position"),
    *texts("kind", "label", "value", "url", "quote", "language"),
    *flags("main"),
    *texts("own_value"),
    *flags("hidden", "added", "found"),
    *moments("seen_at"),
    *texts("edited_by"),
    Column("edited_at", Moment),
)

# Pages that operators corrected, excluded or pinned.
page_decisions = Table(
    "page_decisions",
    metadata,
    site_key(),
    key("url"),
    *flags("excluded", "pinned", "edited"),
    *texts("title", "text", "accepted_hash", "site_hash", "changed_by"),
    *moments("changed_at"),
    # Last because it can be long: reading the other columns does not read it.
    Column("site_page", Json),
    Index(None, "site_id", "pinned"),
)

# How many quotes from a page were still on it at the last check.
page_quotes = Table(
    "page_quotes",
    metadata,
    site_key(),
    key("url"),
    *texts("content_hash"),
    *integers("checked", "broken"),
    *moments("checked_at"),
    Index(None, "site_id", "broken"),
)

# How often each page is cited, and when last. Triggers keep it up to date.
page_citations = Table(
    "page_citations",
    metadata,
    site_key(),
    key("url"),
    Column("times", BigInteger, nullable=False),
    *moments("last_at"),
)

sources = Table(
    "sources",
    metadata,
    site_key(),
    key("id"),
    *texts("kind", "name"),
    *jsons("options"),
    *texts("digest"),
    *moments("added_at"),
    Column("read_at", Moment),
    *texts("message"),
)

# Files, addresses and question-answer pairs found when the source was last read.
source_items = Table(
    "source_items",
    metadata,
    key("site_id"),
    key("source_id"),
    key("url"),
    *texts("name", "state", "reason", "content_hash"),
    *integers("missed"),
    ForeignKeyConstraint(["site_id", "source_id"], ["sources.site_id", "sources.id"], ondelete="CASCADE"),
)

# Every version of a page that was read; `pages.content_hash` names the live one.
source_pages = Table(
    "source_pages",
    metadata,
    site_key(),
    key("url"),
    key("content_hash"),
    *jsons("page"),
    *texts("digest", "name"),
)

# Uploaded files by the SHA-256 of their bytes.
source_blobs = Table(
    "source_blobs",
    metadata,
    site_key(),
    key("digest"),
    *integers("size"),
    Column("body", LargeBinary, nullable=False),
    Index(None, "site_id", "size"),
)

# Whole derived indexes; a row is never updated.
derived_indexes = Table(
    "derived_indexes",
    metadata,
    site_key(),
    key("key"),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    *texts("signature"),
    *jsons("figures"),
    *moments("built_at"),
    Column("body", LargeBinary, nullable=False),
)

# Replies of models by request, so that rebuilding an index costs nothing.
model_replies = Table(
    "model_replies", metadata, site_key(), key("key"), *texts("kind", "reply"), *moments("used_at")
)
