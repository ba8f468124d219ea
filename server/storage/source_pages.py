"""The pages that a site's sources gave, version by version, and what became of each part of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, or_, select

from server.storage.database import Database
from server.storage.live_content import alive_in
from server.storage.statements import upsert
from server.storage.tables import of_sources, pages, sites

_SOURCES, _ITEMS, _PAGES, _BLOBS = of_sources.sources, of_sources.items, of_sources.pages, of_sources.blobs


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file, an address or a pair, as it ended when its source was last read."""

    url: str
    name: str
    state: str
    """As of an address of a crawl: "fetched", "empty", "error" and so on."""
    reason: str = ""
    content_hash: str = ""
    """Of the page that it gives; empty when it gives none."""
    missed: int = 0
    """How many readings in a row did not find it."""


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A page as it was read from a source."""

    url: str
    content_hash: str
    page: dict[str, Any]
    """As Page.to_json gives it."""
    digest: str = ""
    """Of the file that it was read from; empty when none was."""
    name: str = ""
    """The file's name."""


_VERSION = tuple(_PAGES.c[name] for name in PageVersion.__dataclass_fields__)
_ITEM = tuple(_ITEMS.c[name] for name in SourceItem.__dataclass_fields__)
_LIVE = select(*_VERSION).where(
    _PAGES.c.site_id == bindparam("site"),
    _PAGES.c.url == bindparam("url"),
    sites.c.id == bindparam("site"),
    pages.c.site_id == bindparam("site"),
    pages.c.url == bindparam("url"),
    pages.c.content_hash == _PAGES.c.content_hash,
    alive_in(pages, sites.c.generation),
)


class SourcePages:
    """Pages and parts of the sources of one site."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self.site_id = site_id

    def live(self, url: str) -> PageVersion | None:
        """The version of a page that visitors are answered from; None when none is live."""
        with self._db.connect() as connection:
            row = connection.execute(_LIVE, {"site": self.site_id, "url": url}).first()
        return None if row is None else PageVersion(*row)

    def version(self, url: str, content_hash: str) -> PageVersion | None:
        """A version of a page, live or not."""
        key = (_PAGES.c.site_id == self.site_id, _PAGES.c.url == url, _PAGES.c.content_hash == content_hash)
        with self._db.connect() as connection:
            row = connection.execute(select(*_VERSION).where(*key)).first()
        return None if row is None else PageVersion(*row)

    def put(self, version: PageVersion) -> None:
        """Stores a version."""
        with self._db.begin() as connection:
            connection.execute(
                upsert(self._db.dialect, _PAGES, key=("site_id", "url", "content_hash")),
                {"site_id": self.site_id, **asdict(version)},
            )

    def items(self, source_id: str) -> dict[str, SourceItem]:
        """What a source consisted of when it was last read, by address."""
        own = select(*_ITEM).where(_ITEMS.c.site_id == self.site_id, _ITEMS.c.source_id == source_id)
        with self._db.connect() as connection:
            return {row.url: SourceItem(*row) for row in connection.execute(own.order_by(_ITEMS.c.name))}

    def replace_items(self, source_id: str, items: Sequence[SourceItem]) -> None:
        """What a source consists of now. Nothing is done for one that was removed meanwhile."""
        own = (_ITEMS.c.site_id == self.site_id, _ITEMS.c.source_id == source_id)
        known = select(_SOURCES.c.id).where(_SOURCES.c.site_id == self.site_id, _SOURCES.c.id == source_id)
        rows = [{"site_id": self.site_id, "source_id": source_id, **asdict(item)} for item in items]
        with self._db.begin() as connection:
            connection.execute(delete(_ITEMS).where(*own))
            if rows and connection.execute(known.with_for_update(read=True)).first():
                connection.execute(
                    upsert(self._db.dialect, _ITEMS, key=("site_id", "source_id", "url")), rows
                )

    def tidy(self) -> None:
        """Deletes versions that are neither current nor live, pages of removed sources, and unused bytes."""
        same_url = and_(_ITEMS.c.site_id == _PAGES.c.site_id, _ITEMS.c.url == _PAGES.c.url)
        current = and_(same_url, _ITEMS.c.content_hash == _PAGES.c.content_hash)
        indexed = and_(
            pages.c.site_id == _PAGES.c.site_id,
            pages.c.url == _PAGES.c.url,
            pages.c.content_hash == _PAGES.c.content_hash,
        )
        old = or_(
            ~exists().where(same_url, _ITEMS.c.content_hash != ""),
            and_(~exists().where(current), ~exists().where(indexed)),
        )
        unused = and_(
            ~exists().where(_SOURCES.c.site_id == _BLOBS.c.site_id, _SOURCES.c.digest == _BLOBS.c.digest),
            ~exists().where(_PAGES.c.site_id == _BLOBS.c.site_id, _PAGES.c.digest == _BLOBS.c.digest),
        )
        with self._db.begin() as connection:
            connection.execute(delete(_PAGES).where(_PAGES.c.site_id == self.site_id, old))
            connection.execute(delete(_BLOBS).where(_BLOBS.c.site_id == self.site_id, unused))
