"""Runs of the playground."""

from sqlalchemy import Column, Index, Integer, Table

from server.storage.columns import Words
from server.storage.schema.base import cascade, jsons, key, metadata, moments, of_site, texts

playground_runs = Table(
    "playground_runs",
    metadata,
    key("id"),
    of_site(),
    *moments("asked_at"),
    *texts("asked_by", "question"),
    *jsons("asked"),
    Index(None, "asked_at"),
    Index(None, "site_id", "asked_at"),
)

# One row for each variant, because variants finish at different times.
playground_ways = Table(
    "playground_ways",
    metadata,
    Column("run_id", Words, cascade("playground_runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    *texts("state"),
    *jsons("result"),
)
