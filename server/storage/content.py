"""Pages and chunks of a site, in generations, so that readers never see a half-built index.

What a build writes belongs to the generation after the live one. A row that a build adds is `born`
in it, a row that it removes has `died` in it; visitors are answered from the live generation until
`go_live` moves the site to the next one, in one atomic step. A build that was cut off leaves rows
born or died in a generation that never came: the next one goes on from them, or `discard_unfinished`
takes them back. A page that was put is `unindexed` until `mark_indexed`: what a build had not brought
into the indexes when it was cut off is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, exists, or_, select, true, update
from sqlalchemy.dialects import postgresql, sqlite

from server.domain.chunk import Chunk
from server.storage.columns import now
from server.storage.errors import UnknownSite
from server.storage.live_content import LiveContent, PageRecord, page_of
from server.storage.statements import among, upsert
from server.storage.tables import chunks, pages, sites

__all__ = ["ContentStore", "PageRecord"]

_NEWEST_PAGE = (pages.c.site_id == bindparam("site"), pages.c.died.is_(None))


class ContentStore(LiveContent):
    """Content of one site: readers see the live generation, one writer at a time builds the next."""

    def next_generation(self) -> int:
        """The generation that is being built."""
        return self.live_generation() + 1

    def known_pages(self) -> dict[str, PageRecord]:
        """Every page by address in the newest state written, live or not yet."""
        columns = [pages.c[name] for name in PageRecord.__dataclass_fields__]
        with self._db.connect() as connection:
            rows = connection.execute(select(*columns).where(*_NEWEST_PAGE), {"site": self.site_id})
            return {row.url: page_of(row) for row in rows}

    def chunk_ids(self, url: str) -> list[str]:
        """Ids of the chunks of a page in the newest state written, in page order."""
        ids = select(chunks.c.id).where(
            chunks.c.site_id == self.site_id, chunks.c.url == url, chunks.c.died.is_(None)
        )
        with self._db.connect() as connection:
            return list(connection.execute(ids.order_by(chunks.c.position)).scalars())

    def put_page(self, page: PageRecord, added: Sequence[Chunk], removed: Sequence[str]) -> None:
        """Stores a page's new state in the next generation, all of it or nothing. Calling twice is one call.

        A chunk among `added` that lives already keeps living and only gets its new title, position
        and anchor, at once: pass chunks that moved on the page as added too.
        """
        with self._db.begin() as connection:
            live = self._hold(connection)
            self._end(connection, removed, live + 1)
            if added:
                rows = [self._row(chunk, live + 1) for chunk in added]
                connection.execute(self._birth(live), rows)
            self._replace_page(connection, page, live + 1)

    def mark_indexed(self, urls: Sequence[str]) -> None:
        """Notes that the chunks of these pages are in every index."""
        found = update(pages).where(*_NEWEST_PAGE, among(self._db.dialect, pages.c.url, "urls"))
        with self._db.begin() as connection:
            connection.execute(found.values(indexed=true()), {"site": self.site_id, "urls": list(urls)})

    def unindexed(self) -> list[str]:
        """Addresses of the pages that were put and not marked as indexed yet."""
        waiting = select(pages.c.url).where(*_NEWEST_PAGE, pages.c.indexed.is_not(true()))
        with self._db.connect() as connection:
            found = connection.execute(waiting.order_by(pages.c.url), {"site": self.site_id})
            return list(found.scalars())

    def newest_chunks(self, url: str) -> list[tuple[Chunk, bool]]:
        """The chunks of a page in the newest state written, each with whether it is not live yet."""
        columns = [chunks.c[name] for name in Chunk.__dataclass_fields__]
        newest = (chunks.c.site_id == self.site_id, chunks.c.url == url, chunks.c.died.is_(None))
        live = select(sites.c.generation).where(sites.c.id == self.site_id).scalar_subquery()
        found = select(*columns, (chunks.c.born > live).label("coming")).where(*newest)
        with self._db.connect() as connection:
            rows = connection.execute(found.order_by(chunks.c.position)).all()
        return [(Chunk(*row[:-1]), bool(row.coming)) for row in rows]

    def is_changed(self) -> bool:
        """Whether anything was written that is not live yet."""
        live = select(sites.c.generation).where(sites.c.id == self.site_id).scalar_subquery()
        written = [
            exists().where(table.c.site_id == self.site_id, or_(table.c.born > live, table.c.died > live))
            for table in (pages, chunks)
        ]
        with self._db.connect() as connection:
            return bool(connection.execute(select(or_(*written))).scalar())

    def touch_page(self, url: str, *, etag: str, last_modified: str) -> None:
        """Notes that a page was found and has not changed. Unknown pages are no error."""
        found = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"))
        with self._db.begin() as connection:
            connection.execute(
                found.values(etag=etag, last_modified=last_modified, missed=0, fetched_at=now()),
                {"site": self.site_id, "at": url},
            )

    def miss_page(self, url: str, crawl_id: int = 0) -> int:
        """Notes that a page was not found; returns how many crawls in a row now, 0 for an unknown page.
        Calling twice with the same crawl is one call.

        The count is of the page and not of a build: it stays when the build is discarded.
        """
        at = {"site": self.site_id, "at": url}
        same = (*_NEWEST_PAGE, pages.c.url == bindparam("at"))
        missed = update(pages).where(*same)
        if crawl_id:
            missed = missed.where(pages.c.missed_in != crawl_id)
        with self._db.begin() as connection:
            connection.execute(missed.values(missed=pages.c.missed + 1, missed_in=crawl_id), at)
            return int(connection.execute(select(pages.c.missed).where(*same), at).scalar() or 0)

    def remove_page(self, url: str) -> list[str]:
        """Lets a page and its chunks die in the next generation; returns the ids of the chunks."""
        with self._db.begin() as connection:
            generation = self._hold(connection) + 1
            newest = (chunks.c.site_id == self.site_id, chunks.c.url == url, chunks.c.died.is_(None))
            ids = list(connection.execute(select(chunks.c.id).where(*newest)).scalars())
            connection.execute(update(chunks).where(*newest).values(died=generation))
            self._end_page(connection, url, generation)
        return ids

    def discard_unfinished(self) -> list[str]:
        """Takes back all that was written since the last `go_live`; returns the ids of the chunks removed.
        They are among the `dead` then, until they are purged."""
        with self._db.begin() as connection:
            live = self._hold(connection)
            for table in (pages, chunks):
                written = (table.c.site_id == self.site_id, table.c.died > live, table.c.born <= live)
                connection.execute(update(table).where(*written).values(died=None))
            connection.execute(delete(pages).where(pages.c.site_id == self.site_id, pages.c.born > live))
            unfinished = (
                chunks.c.site_id == self.site_id,
                chunks.c.born > live,
                or_(chunks.c.died.is_(None), chunks.c.died > live),
            )
            dropped = update(chunks).where(*unfinished).values(died=live).returning(chunks.c.id)
            return list(connection.execute(dropped).scalars())

    def go_live(self) -> int:
        """Makes the next generation the live one, in one step; returns it."""
        step = update(sites).where(sites.c.id == self.site_id).values(generation=sites.c.generation + 1)
        with self._db.begin() as connection:
            generation = connection.execute(step.returning(sites.c.generation)).scalar()
            if generation is None:
                raise self._unknown()
            gone = (pages.c.site_id == self.site_id, pages.c.died <= generation)
            connection.execute(delete(pages).where(*gone))
        return int(generation)

    def dead(self) -> list[str]:
        """Ids of chunks that no reader of the live generation sees any more."""
        live = select(sites.c.generation).where(sites.c.id == self.site_id).scalar_subquery()
        gone = select(chunks.c.id).where(chunks.c.site_id == self.site_id, chunks.c.died <= live)
        with self._db.connect() as connection:
            return list(connection.execute(gone).scalars())

    def purge(self, ids: Sequence[str]) -> None:
        """Deletes those of these chunks that are dead; the others, and unknown ids, are left alone."""
        live = select(sites.c.generation).where(sites.c.id == self.site_id).scalar_subquery()
        gone = delete(chunks).where(
            chunks.c.site_id == self.site_id,
            among(self._db.dialect, chunks.c.id, "ids"),
            chunks.c.died <= live,
        )
        with self._db.begin() as connection:
            connection.execute(gone, {"ids": list(ids)})

    def _hold(self, connection: Connection) -> int:
        """The live generation, which cannot move until the transaction ends. Raises UnknownSite."""
        held = select(sites.c.generation).where(sites.c.id == self.site_id).with_for_update(read=True)
        generation = connection.execute(held).scalar()
        if generation is None:
            raise self._unknown()
        return int(generation)

    def _end(self, connection: Connection, ids: Sequence[str], generation: int) -> None:
        alive = (chunks.c.site_id == self.site_id, chunks.c.died.is_(None))
        ended = update(chunks).where(*alive, among(self._db.dialect, chunks.c.id, "ids"))
        if ids:
            connection.execute(ended.values(died=generation), {"ids": list(ids)})

    def _row(self, chunk: Chunk, generation: int) -> Mapping[str, Any]:
        return {
            "site_id": self.site_id,
            "id": chunk.id,
            "url": chunk.url,
            "title": chunk.title,
            "heading_path": chunk.heading_path,
            "text": chunk.text,
            "position": chunk.position,
            "language": chunk.language,
            "anchor": chunk.anchor,
            "born": generation,
            "died": None,
        }

    def _birth(self, live: int) -> sqlite.Insert | postgresql.Insert:
        # A row that died in an earlier generation and was not purged yet is born anew: until the next
        # generation is live no reader may see it. Any other row that exists keeps its birth.
        born = case((chunks.c.died <= live, live + 1), else_=chunks.c.born)
        return upsert(self._db.dialect, chunks, key=("site_id", "id"), instead={"born": born})

    def _replace_page(self, connection: Connection, page: PageRecord, generation: int) -> None:
        old = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"), pages.c.born < generation)
        connection.execute(old.values(died=generation), {"site": self.site_id, "at": page.url})
        connection.execute(
            upsert(self._db.dialect, pages, key=("site_id", "url", "born")),
            {
                **asdict(page),
                **{"site_id": self.site_id, "born": generation, "died": None, "missed": 0, "missed_in": 0},
                **{"indexed": False, "first_seen_at": page.first_seen_at or page.fetched_at},
            },
        )

    def _end_page(self, connection: Connection, url: str, generation: int) -> None:
        newest = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"))
        connection.execute(newest.values(died=generation), {"site": self.site_id, "at": url})

    def _unknown(self) -> UnknownSite:
        return UnknownSite(f"there is no site {self.site_id!r}: it was deleted, or never made")
