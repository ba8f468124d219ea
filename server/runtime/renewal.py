"""Rebuilds what an update of the installation or a restored backup needs."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from server.backup.one_site import bring_site
from server.backup.reading import Backup, restore
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
    backup.check(shutil.disk_usage(folder).free)
    restore(database, backup)
    ids = [site.id for site in SiteStore(database).all()]
    _index_again(database, ids, start_crawl)
    return ids


def bring_site_in(
    database: Database, folder: Path, exported: Backup, start_crawl: Callable[[str], int]
) -> str:
    """Add an exported site and start a crawl of it. Return its id. Raises BadBackup; then nothing was
    changed."""
    exported.check(shutil.disk_usage(folder).free)
    site_id = bring_site(database, exported)
    _index_again(database, [site_id], start_crawl)
    return site_id


def _index_again(database: Database, ids: list[str], start_crawl: Callable[[str], int]) -> None:
    note_outdated(database, ids)
    renew_words(database)
    for site_id in ids:
        start_crawl(site_id)
