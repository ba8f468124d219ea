"""Versions of pages read from a site's sources, and the state of each part of a source."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, or_, select

from server.storage.content.reader import alive_in
from server.storage.schema.content import pages, source_blobs, source_items, source_pages, sources
from server.storage.schema.sites import sites
from server.storage.statements import upsert
from server.storage.store import SiteRows, columns_of


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file, an address or a question-answer pair, with its state after the last reading of its source."""

    url: str
    name: str
    state: str
    """The state, as for an address of a crawl: "fetched", "empty", "error" and so on."""
    reason: str = ""
    content_hash: str = ""
    """Content hash of its page; empty if it has none."""
    missed: int = 0
    """Number of consecutive readings that did not find it."""


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A page as it was read from a source."""

    url: str
    content_hash: str
    page: dict[str, Any]
    """The page, from Page.to_json."""
    digest: str = ""
    """Digest of the file it was read from; empty if there was none."""
    name: str = ""
    """The file's name."""


_VERSION = columns_of(PageVersion, source_pages)
_ITEM = columns_of(SourceItem, source_items)
_LIVE = select(*_VERSION).where(
    source_pages.c.site_id == bindparam("site"),
    source_pages.c.url == bindparam("url"),
    sites.c.id == bindparam("site"),
    pages.c.site_id == bindparam("site"),
    pages.c.url == bindparam("url"),
    pages.c.content_hash == source_pages.c.content_hash,
    alive_in(pages, sites.c.generation),
)


class SourcePages(SiteRows):
    """Pages and parts of the sources of one site."""

    def live(self, url: str) -> PageVersion | None:
        """Return the live version of a page, or None."""
        row = self._row(_LIVE, {"site": self.site_id, "url": url})
        return None if row is None else PageVersion(*row)

    def version(self, url: str, content_hash: str) -> PageVersion | None:
        """Return a version of a page, live or not, or None."""
        page = (source_pages.c.site_id == self.site_id, source_pages.c.url == url)
        row = self._row(select(*_VERSION).where(*page, source_pages.c.content_hash == content_hash))
        return None if row is None else PageVersion(*row)

    def put(self, version: PageVersion) -> None:
        """Store a version."""
        self._put(source_pages, {"site_id": self.site_id, **asdict(version)})

    def items(self, source_id: str) -> dict[str, SourceItem]:
        """Return the parts of a source at its last reading, by address."""
        own = (source_items.c.site_id == self.site_id, source_items.c.source_id == source_id)
        rows = self._rows(select(*_ITEM).where(*own).order_by(source_items.c.name))
        return {row.url: SourceItem(*row) for row in rows}

    def replace_items(self, source_id: str, items: Sequence[SourceItem]) -> None:
        """Replace the parts of a source. A source that was removed in the meantime is ignored."""
        own = (source_items.c.site_id == self.site_id, source_items.c.source_id == source_id)
        known = select(sources.c.id).where(sources.c.site_id == self.site_id, sources.c.id == source_id)
        rows = [{"site_id": self.site_id, "source_id": source_id, **asdict(item)} for item in items]
        with self._db.begin() as connection:
            connection.execute(delete(source_items).where(*own))
            if rows and connection.execute(known.with_for_update(read=True)).first():
                connection.execute(upsert(self._db.dialect, source_items), rows)

    def tidy(self) -> None:
        """Delete versions that are neither current nor live, pages of removed sources, and unused bytes."""
        same_url = and_(
            source_items.c.site_id == source_pages.c.site_id, source_items.c.url == source_pages.c.url
        )
        current = and_(same_url, source_items.c.content_hash == source_pages.c.content_hash)
        indexed = and_(
            pages.c.site_id == source_pages.c.site_id,
            pages.c.url == source_pages.c.url,
            pages.c.content_hash == source_pages.c.content_hash,
        )
        old = or_(
            ~exists().where(same_url, source_items.c.content_hash != ""),
            and_(~exists().where(current), ~exists().where(indexed)),
        )
        unused = and_(
            ~exists().where(
                sources.c.site_id == source_blobs.c.site_id, sources.c.digest == source_blobs.c.digest
            ),
            ~exists().where(
                source_pages.c.site_id == source_blobs.c.site_id,
                source_pages.c.digest == source_blobs.c.digest,
            ),
        )
        with self._db.begin() as connection:
            connection.execute(delete(source_pages).where(source_pages.c.site_id == self.site_id, old))
            connection.execute(delete(source_blobs).where(source_blobs.c.site_id == self.site_id, unused))
