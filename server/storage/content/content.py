"""Pages and chunks of a site, in generations, so that readers never see a half-built index.

A build writes to the generation after the live one. A row that it adds is `born` in that generation, a row
that it removes has `died` in it. Visitors get answers from the live generation until `go_live` moves the site
to the next one, in one atomic step. An interrupted build leaves rows born or died in a generation that never
went live: the next build continues from them, or `discard_unfinished` reverts them. A stored page is
`unindexed` until `mark_indexed`, so that an interrupted build knows what is missing from the indexes.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, bindparam, case, delete, exists, or_, select, true, update

from crawler.spilling import Spilling
from server.domain.chunk import Chunk
from server.storage.columns import now
from server.storage.content.reader import BATCH, CHUNK, PAGE, ContentReader, PageRecord, generation_of
from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.schema.content import chunks, pages
from server.storage.schema.sites import sites
from server.storage.statements import Upsert, among, upsert, upsert_with
from server.storage.store import SiteRows

_NEWEST_PAGE = (pages.c.site_id == bindparam("site"), pages.c.died.is_(None))

_FIELDS = tuple(Chunk.__dataclass_fields__)
_RECORD = TypeAdapter(PageRecord)


class ContentStore(SiteRows):
    """Builds the next generation of one site's content, one writer at a time. `live` reads the live one."""

    def __init__(self, db: Database, site_id: str) -> None:
        super().__init__(db, site_id)
        self.live = ContentReader(db, site_id)

    def next_generation(self) -> int:
        """Return the number of the generation that is being built."""
        return self.live.live_generation() + 1

    def coming(self) -> ContentReader:
        """Return a reader of the generation that is being built."""
        return ContentReader(self._db, self.site_id, self.next_generation())

    def newest(self) -> ContentReader:
        """Return a reader of the generation that is being built, or of the live one if there is none."""
        return self.coming() if self.is_changed() else self.live

    def known_pages(self) -> Spilling[PageRecord]:
        """Return all pages by address in their newest state, live or not yet."""
        found: Spilling[PageRecord] = Spilling(
            partial(_RECORD.dump_python, mode="json"), _RECORD.validate_python
        )
        with self._db.snapshot() as connection:
            streamed = connection.execution_options(yield_per=BATCH)
            for row in streamed.execute(select(*PAGE).where(*_NEWEST_PAGE), {"site": self.site_id}):
                found[row.url] = PageRecord(*row)
        return found

    def chunk_ids(self, url: str) -> list[str]:
        """Return the ids of a page's chunks in the newest state written, in page order."""
        ids = select(chunks.c.id).where(*self._chunks_of(url))
        return self._scalars(ids.order_by(chunks.c.position))

    def put_page(self, page: PageRecord, added: Sequence[Chunk], removed: Sequence[str]) -> None:
        """Store a page's new state in the next generation, all of it or nothing. Idempotent.

        A chunk in `added` that is alive already only gets its new title, position and anchor, at once: pass
        chunks that moved on the page too.
        """
        with self._db.begin() as connection:
            live = self._hold(connection)
            if removed:
                alive = (chunks.c.site_id == self.site_id, chunks.c.died.is_(None))
                ended = update(chunks).where(*alive, among(self._db.dialect, chunks.c.id, "ids"))
                connection.execute(ended.values(died=live + 1), {"ids": list(removed)})
            if added:
                own = {"site_id": self.site_id, "born": live + 1, "died": None}
                rows = [{name: getattr(chunk, name) for name in _FIELDS} | own for chunk in added]
                connection.execute(self._birth(live), rows)
            self._replace_page(connection, page, live + 1)

    def mark_indexed(self, urls: Sequence[str]) -> None:
        """Record that the chunks of these pages are in every index."""
        found = update(pages).where(*_NEWEST_PAGE, among(self._db.dialect, pages.c.url, "urls"))
        self._write(found.values(indexed=true()), {"site": self.site_id, "urls": list(urls)})

    def unindexed(self) -> list[str]:
        """Return the addresses of pages that were put and are not yet marked as indexed."""
        waiting = select(pages.c.url).where(*_NEWEST_PAGE, pages.c.indexed.is_not(true()))
        return self._scalars(waiting.order_by(pages.c.url), {"site": self.site_id})

    def newest_chunks(self, url: str) -> list[tuple[Chunk, bool]]:
        """Return the chunks of a page in the newest state written, each with whether it is not yet live."""
        is_coming = (chunks.c.born > generation_of(self.site_id)).label("coming")
        found = select(*CHUNK, is_coming).where(*self._chunks_of(url))
        rows = self._rows(found.order_by(chunks.c.position))
        return [(Chunk(*row[:-1]), bool(row.coming)) for row in rows]

    def is_changed(self) -> bool:
        """Return whether anything was written that is not live yet."""
        live = generation_of(self.site_id)
        written = [
            exists().where(table.c.site_id == self.site_id, or_(table.c.born > live, table.c.died > live))
            for table in (pages, chunks)
        ]
        return bool(self._scalar(select(or_(*written))))

    def touch_page(self, url: str, *, etag: str, last_modified: str) -> None:
        """Record that a page was found and has not changed. Unknown pages are ignored."""
        found = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"))
        seen = found.values(etag=etag, last_modified=last_modified, missed=0, fetched_at=now())
        self._write(seen, {"site": self.site_id, "at": url})

    def miss_page(self, url: str, crawl_id: int = 0) -> int:
        """Record that a page was not found. Return the number of consecutive crawls without it, 0 for an
        unknown page. Idempotent for one crawl.

        The count belongs to the page and not to a build: it stays when the build is discarded.
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
        """Remove a page and its chunks from the next generation; return the ids of the chunks."""
        with self._db.begin() as connection:
            generation = self._hold(connection) + 1
            newest = self._chunks_of(url)
            ids = list(connection.execute(select(chunks.c.id).where(*newest)).scalars())
            connection.execute(update(chunks).where(*newest).values(died=generation))
            page = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"))
            connection.execute(page.values(died=generation), {"site": self.site_id, "at": url})
        return ids

    def discard_unfinished(self) -> list[str]:
        """Revert everything written since the last `go_live`; return the ids of the removed chunks, which are
        among the `dead` until they are purged."""
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
        """Make the next generation live, in one atomic step, and return it. Raises UnknownSite."""
        step = update(sites).where(sites.c.id == self.site_id).values(generation=sites.c.generation + 1)
        with self._db.begin() as connection:
            generation = connection.execute(step.returning(sites.c.generation)).scalar()
            if generation is None:
                raise self._unknown()
            gone = (pages.c.site_id == self.site_id, pages.c.died <= generation)
            connection.execute(delete(pages).where(*gone))
        return int(generation)

    def dead(self) -> list[str]:
        """Return the ids of chunks that readers of the live generation no longer see."""
        live = generation_of(self.site_id)
        gone = select(chunks.c.id).where(chunks.c.site_id == self.site_id, chunks.c.died <= live)
        return self._scalars(gone)

    def purge(self, ids: Sequence[str]) -> None:
        """Delete the dead chunks among these; live chunks and unknown ids are ignored."""
        live = generation_of(self.site_id)
        dead = (chunks.c.site_id == self.site_id, chunks.c.died <= live)
        gone = delete(chunks).where(*dead, among(self._db.dialect, chunks.c.id, "ids"))
        self._write(gone, {"ids": list(ids)})

    def _hold(self, connection: Connection) -> int:
        """Return the live generation and lock it until the transaction ends. Raises UnknownSite."""
        held = select(sites.c.generation).where(sites.c.id == self.site_id).with_for_update(read=True)
        generation = connection.execute(held).scalar()
        if generation is None:
            raise self._unknown()
        return int(generation)

    def _chunks_of(self, url: str) -> tuple[ColumnElement[bool], ...]:
        """Chunks of a page in the newest state written."""
        return chunks.c.site_id == self.site_id, chunks.c.url == url, chunks.c.died.is_(None)

    def _birth(self, live: int) -> Upsert:
        # A row that died in an earlier generation and was not purged yet is born in the next one, so that
        # no reader sees it until then. Any other existing row keeps its generation.
        born = case((chunks.c.died <= live, live + 1), else_=chunks.c.born)
        return upsert_with(self._db.dialect, chunks, {"born": born})

    def _replace_page(self, connection: Connection, page: PageRecord, generation: int) -> None:
        old = update(pages).where(*_NEWEST_PAGE, pages.c.url == bindparam("at"), pages.c.born < generation)
        connection.execute(old.values(died=generation), {"site": self.site_id, "at": page.url})
        connection.execute(
            upsert(self._db.dialect, pages),
            {
                **asdict(page),
                **{"site_id": self.site_id, "born": generation, "died": None, "missed": 0, "missed_in": 0},
                **{"indexed": False, "first_seen_at": page.first_seen_at or page.fetched_at},
            },
        )

    def _unknown(self) -> UnknownSite:
        return UnknownSite(f"there is no site {self.site_id!r}: it was deleted, or never made")
