"""Brings a backup back, and has made anew what no backup holds: words at once, vectors by a crawl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from server.indexes.word_tables import note_outdated
from server.services.renewal import renew_words
from server.storage.backup.reading import Backup, free_bytes, restore
from server.storage.database import Database
from server.storage.sites import SiteStore


def restore_all(
    database: Database, folder: Path, backup: Backup, start_crawl: Callable[[str], int]
) -> list[str]:
    """Replaces everything; returns the ids of the sites that are read again. Raises BadBackup, then nothing
    was changed."""
    backup.check(free_bytes(folder))
    restore(database, backup)
    sites = SiteStore(database).all()
    note_outdated(database, [site.id for site in sites])
    renew_words(database)
    for site in sites:
        start_crawl(site.id)
    return [site.id for site in sites]
