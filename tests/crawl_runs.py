"""Crawls that are under way without a process that works on them."""

from sqlalchemy import update

from server.storage.columns import now
from server.storage.schema.sites import crawls


def begin_crawl(store, site_id):
    """Queue a crawl, or find the one that waits, and store it as running; return its number."""
    crawl_id = store.wait(site_id)
    begun = update(crawls).where(crawls.c.id == crawl_id).values(state="running", started_at=now())
    store._write(begun)
    return crawl_id
