"""Sites, what their crawls keep, and incidents."""

from sqlalchemy import Boolean, Column, Index, Table, false

from server.storage.schema.base import Number, integers, jsons, key, metadata, moments, site_key, texts

sites = Table(
    "sites",
    metadata,
    key("id"),
    *texts("name", "title"),
    *jsons("start_urls", "origins"),
    *texts("language", "strategy", "flow"),
    Column("allow_private", Boolean, nullable=False),
    *jsons("options"),
    *integers("generation"),
    *moments("created_at"),
    Column("leaving", Boolean, nullable=False, server_default=false()),
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
