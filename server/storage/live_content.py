"""Reading what is live of a site. This is on the path of every answer: one statement a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Table, and_, bindparam, func, literal_column, or_, select, tuple_
from sqlalchemy.sql.elements import BindParameter, ColumnElement

from server.domain.chunk import Chunk
from server.storage.database import Database
from server.storage.statements import AnyRow, AnySelect, among
from server.storage.tables import chunks, pages, sites

BATCH = 1000
ZERO: ColumnElement[int] = literal_column("0")
NEVER: ColumnElement[int] = literal_column("2147483647")


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What is kept of a page beside its chunks."""

    url: str
    title: str
    language: str
    content_hash: str
    etag: str
    last_modified: str
    missed: int
    """How many crawls in a row did not find it."""
    fetched_at: datetime
    first_seen_at: datetime | None = field(default=None, compare=False)
    """When it was read first, under this address or one that it had before; None: just now."""
    source: str = ""
    """Where it comes from when it is not of the website itself, such as an upload."""


_CHUNK = (
    *(chunks.c.id, chunks.c.url, chunks.c.title, chunks.c.heading_path),
    *(chunks.c.text, chunks.c.position, chunks.c.language, chunks.c.anchor),
)
_PAGE = (
    *(pages.c.url, pages.c.title, pages.c.language, pages.c.content_hash),
    *(pages.c.etag, pages.c.last_modified, pages.c.missed, pages.c.fetched_at),
    *(pages.c.first_seen_at, pages.c.source),
)
_SITE: BindParameter[str] = bindparam("site")


def alive_in(table: Table, generation: ColumnElement[int]) -> ColumnElement[bool]:
    """The rows of a table with `born` and `died` that a reader of `generation` sees."""
    # Spelt so that SQLite cannot walk an index of generations, which holds every chunk of the site: it has
    # no statistics here, and would rather do that than look up the few ids or the page asked for.
    return and_(table.c.born + ZERO <= generation, func.coalesce(table.c.died, NEVER) > generation)


def _live(table: Table) -> ColumnElement[bool]:
    return and_(table.c.site_id == _SITE, sites.c.id == _SITE, alive_in(table, sites.c.generation))


@cache
def _by_id(dialect: str) -> AnySelect:
    return select(*_CHUNK).where(_live(chunks), among(dialect, chunks.c.id, "ids"))


_BY_URL = select(*_CHUNK).where(_live(chunks), chunks.c.url == bindparam("url")).order_by(chunks.c.position)
_GENERATION = select(sites.c.generation).where(sites.c.id == _SITE)
_COUNTS = select(
    select(func.count()).select_from(pages).join(sites, _live(pages)).scalar_subquery(),
    select(func.count()).select_from(chunks).join(sites, _live(chunks)).scalar_subquery(),
)
_LISTED = (
    select(*_PAGE)
    .where(_live(pages))
    .order_by(pages.c.url)
    .limit(bindparam("count"))
    .offset(bindparam("skip"))
)
_HASHES = select(pages.c.url, pages.c.content_hash).where(_live(pages))
_BY_ADDRESS = select(*_PAGE).where(_live(pages), pages.c.url == bindparam("url"))
_SEARCHED = _LISTED.where(
    or_(
        func.lower(pages.c.url).contains(bindparam("search"), autoescape=False, escape="\\"),
        func.lower(pages.c.title).contains(bindparam("search"), autoescape=False, escape="\\"),
    )
)
_NEXT_BATCH = (
    select(*_CHUNK)
    .where(
        chunks.c.site_id == _SITE,
        alive_in(chunks, bindparam("generation")),
        tuple_(chunks.c.url, chunks.c.position, chunks.c.id)
        > tuple_(bindparam("url"), bindparam("position"), bindparam("id")),
    )
    .order_by(chunks.c.url, chunks.c.position, chunks.c.id)
    .limit(BATCH)
)


class LiveContent:
    """The live pages and chunks of one site; a build in progress is not seen. Nothing for an unknown site."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self.site_id = site_id

    def live_generation(self) -> int:
        """The generation that visitors are answered from; 0 when there is none yet."""
        with self._db.connect() as connection:
            return int(connection.execute(_GENERATION, {"site": self.site_id}).scalar() or 0)

    def load(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The live ones of these chunks, by id, in the order asked for."""
        with self._db.connect() as connection:
            rows = connection.execute(
                _by_id(self._db.dialect), {"site": self.site_id, "ids": list(ids)}
            ).all()
        found = {row[0]: chunk_of(row) for row in rows}
        return {id: found[id] for id in ids if id in found}

    def page(self, url: str) -> list[Chunk]:
        """All live chunks of a page, in page order; [] for an unknown page."""
        with self._db.connect() as connection:
            rows = connection.execute(_BY_URL, {"site": self.site_id, "url": url}).all()
        return [chunk_of(row) for row in rows]

    def pages(self, *, limit: int = 100, offset: int = 0, search: str = "") -> list[PageRecord]:
        """Live pages by address; with `search`, those whose address or title contains it, in any case."""
        values = {"site": self.site_id, "count": limit, "skip": offset}
        statement = _LISTED
        if search:
            statement = _SEARCHED
            values["search"] = literal_pattern(search.lower())
        with self._db.connect() as connection:
            return [page_of(row) for row in connection.execute(statement, values)]

    def live_hashes(self) -> dict[str, str]:
        """Address -> content hash of every live page; "-" for a page of which none is known."""
        with self._db.connect() as connection:
            rows = connection.execute(_HASHES, {"site": self.site_id})
            return {url: content_hash or "-" for url, content_hash in rows}

    def find(self, url: str) -> PageRecord | None:
        """A live page by its address."""
        with self._db.connect() as connection:
            row = connection.execute(_BY_ADDRESS, {"site": self.site_id, "url": url}).first()
        return None if row is None else page_of(row)

    def counts(self) -> tuple[int, int]:
        """How many live pages and live chunks there are."""
        with self._db.connect() as connection:
            live_pages, live_chunks = connection.execute(_COUNTS, {"site": self.site_id}).one()
        return int(live_pages), int(live_chunks)

    def every_chunk(self, generation: int | None = None) -> Iterator[Chunk]:
        """All chunks of a generation, of that which was live when it began if none is named, page by page,
        a batch in memory at a time."""
        after: dict[str, Any] = {"url": "", "position": -1, "id": ""}
        read = self.live_generation() if generation is None else generation
        after |= {"site": self.site_id, "generation": read}
        while True:
            with self._db.connect() as connection:
                rows = connection.execute(_NEXT_BATCH, after).all()
            yield from map(chunk_of, rows)
            if len(rows) < BATCH:
                return
            after |= {"url": rows[-1].url, "position": rows[-1].position, "id": rows[-1].id}


def literal_pattern(text: str) -> str:
    """`text` for LIKE with the escape character \\, so that % and _ mean themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def chunk_of(row: AnyRow) -> Chunk:
    """A chunk from a row of _CHUNK's columns."""
    return Chunk(*row)


def page_of(row: AnyRow) -> PageRecord:
    """A page from a row of _PAGE's columns."""
    return PageRecord(*row)
