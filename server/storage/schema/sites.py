"""Sites with what their crawls keep, their crawls and schedules, and incidents."""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, false

from server.storage.columns import Json, Moment, Words
from server.storage.schema.base import (
    SEALED,
    Number,
    blanks,
    cascade,
    integers,
    jsons,
    key,
    metadata,
    moments,
    of_site,
    site_key,
    texts,
)

sites = Table(
    "sites",
    metadata,
    key("id"),
    *texts("name", "title"),
    *jsons("start_urls", "origins"),
    *texts("language", "strategy", "flow"),
    Column("allow_private", Boolean, nullable=False, default=False),  # unused: PRIVATE_HOSTS decides
    *jsons("options"),
    *integers("generation"),
    *moments("created_at"),
    Column("leaving", Boolean, nullable=False, server_default=false()),
    Column("contact_secret", Words, nullable=False, server_default="", info={SEALED: True}),
    Column("crawl_headers", Words, nullable=False, server_default="", info={SEALED: True}),
)

# What the crawls of a site keep for the next crawl.
site_notes = Table("site_notes", metadata, site_key(), key("name"), *texts("value"))

# No foreign key: a problem may concern no site and is kept all the same.
incidents = Table(
    "incidents",
    metadata,
    Column("id", Number, primary_key=True),
    *texts("site_id", "kind", "message"),
    *jsons("details"),
    *integers("count"),
    *moments("first_at", "at"),
    Index(None, "site_id", "at"),
    Index(None, "site_id", "kind", "first_at"),
)


crawls = Table(
    "crawls",
    metadata,
    Column("id", Number, primary_key=True),
    of_site(),
    *texts("state"),
    *moments("started_at"),
    Column("finished_at", Moment),
    *integers("found", "fetched", "indexed"),
    *texts("message"),
    *blanks("wanted", "holder"),
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
    Column("crawl_id", Number, cascade("crawls.id"), primary_key=True),
    key("url"),
    *texts("state", "reason"),
    *integers("status"),
    *moments("at"),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("hops", Integer, nullable=False, server_default="0"),
    *blanks("found_on", "content_hash"),
    Column("fingerprint", BigInteger, nullable=False, server_default="0"),
    Column("settled", Boolean, nullable=False, server_default=false()),
    # Last because it can be long: reading the other columns does not read it.
    Column("visit", Words),
    Index(None, "crawl_id", "state", "url"),
)

crawl_notes = Table(
    "crawl_notes",
    metadata,
    Column("crawl_id", Number, cascade("crawls.id"), primary_key=True),
    key("name"),
    *texts("value"),
)

# Addresses of a large crawl that wait for any worker; a row with a visit was visited by `holder`.
crawl_frontier = Table(
    "crawl_frontier",
    metadata,
    Column("crawl_id", Number, cascade("crawls.id"), primary_key=True),
    key("url"),
    *integers("depth", "hops"),
    *texts("found_on", "etag", "last_modified", "holder"),
    Column("until", Moment),
    Column("visit", Words),
    Index(None, "crawl_id", "holder", "depth"),
)

# Hosts that crawls ask: no worker asks one before this moment.
crawl_hosts = Table(
    "crawl_hosts",
    metadata,
    key("host"),
    Column("next_at", Float(53), nullable=False),
    *integers("overloads"),
)

schedules = Table(
    "schedules", metadata, site_key(), *texts("every"), *moments("next_at"), Index(None, "next_at")
)
