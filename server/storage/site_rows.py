"""Takes all rows of a site out of the database, a few at a time, so that nobody else has to wait for long."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Table, delete, select

from server.storage.database import Database
from server.storage.tables import chunks, conversations, crawl_urls, crawls, incidents, messages, sites

CONVERSATIONS, CHUNKS, ADDRESSES = 200, 2000, 5000
"""Rows that go in one transaction. What hangs on a conversation goes with it."""


def remove_site_rows(db: Database, site_id: str) -> None:
    """Every row of the site in every table but the audit log; the site's own row last, so that what was cut
    off can be begun again. A site that is gone already is no error. Raises StorageError."""
    of_site = select(crawls.c.id).where(crawls.c.site_id == site_id)
    _remove(db, crawl_urls, ADDRESSES, crawl_urls.c.crawl_id.in_(of_site))
    _remove(db, conversations, CONVERSATIONS, conversations.c.site_id == site_id)
    _remove(db, chunks, CHUNKS, chunks.c.site_id == site_id)
    with db.begin() as connection:
        connection.execute(delete(incidents).where(incidents.c.site_id == site_id))
        # The other tables hang on this row.
        connection.execute(delete(sites).where(sites.c.id == site_id))


def talked_since(db: Database, site_id: str, since: datetime) -> list[str]:
    """Ids of the site's conversations in which something was asked since then."""
    wanted = select(messages.c.conversation_id).distinct()
    wanted = wanted.where(messages.c.site_id == site_id, messages.c.asked_at >= since)
    with db.connect() as connection:
        return list(connection.execute(wanted).scalars())


def _remove(db: Database, table: Table, at_once: int, which: ColumnElement[bool]) -> None:
    """Those rows of a table, `at_once` in a transaction."""
    keys = list(table.primary_key.columns)
    some = select(*keys).where(which).limit(at_once)
    removed = at_once
    while removed == at_once:
        with db.begin() as connection:
            found = connection.execute(some).all()
            # All but the last part of a key are the same in a batch of one site or crawl.
            for first in {row[:-1] for row in found}:
                last = [row[-1] for row in found if row[:-1] == first]
                same = [key == value for key, value in zip(keys, first, strict=False)]
                connection.execute(delete(table).where(*same, keys[-1].in_(last)))
        removed = len(found)
