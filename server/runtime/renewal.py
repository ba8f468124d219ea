"""Rebuilds what an update of the installation or a restored backup needs."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from server.backup.reading import Backup, free_bytes, restore
from server.domain.chunk import Chunk
from server.indexes.word_tables import note_outdated, outdated
from server.indexes.words import SIDE, SqlWordIndex
from server.storage.content.content import ContentStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

log = logging.getLogger(__name__)


def renew_words(database: Database) -> list[str]:
    """Rebuild the word index of every site whose index has another version. Return their ids.

    Otherwise questions would look for other tokens than the index contains. It takes about a second per 500
    chunks. If several processes start, one does it while the others wait. Raises StorageError.
    """
    if not outdated(database):
        return []
    with database.alone():
        renewed = outdated(database)
        for site_id in renewed:
            words = SqlWordIndex(database, site_id)
            if SIDE in site_id:
                words.drop()  # derived indexes of another version are not read, and are rebuilt
                continue
            log.warning("the word index of %s is rebuilt for this version; this happens once", site_id)
            words.renew(_stored(ContentStore(database, site_id)))
    return renewed


def _stored(content: ContentStore) -> Iterator[Chunk]:
    """Yield the live chunks, then those that an interrupted crawl wrote for the next generation."""
    yield from content.live.every_chunk()
    if content.is_changed():
        for url in content.known_pages():
            yield from (chunk for chunk, coming in content.newest_chunks(url) if coming)


def restore_all(
    database: Database, folder: Path, backup: Backup, start_crawl: Callable[[str], int]
) -> list[str]:
    """Replace everything by the backup and start a crawl of every site. Return the ids of the sites. Raises
    BadBackup; then nothing was changed."""
    backup.check(free_bytes(folder))
    restore(database, backup)
    sites = SiteStore(database).all()
    note_outdated(database, [site.id for site in sites])
    renew_words(database)
    for site in sites:
        start_crawl(site.id)
    return [site.id for site in sites]
