"""Reads pages and chunks of a site. Every answer needs this: one statement a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Table, and_, bindparam, func, literal_column, or_, select, tuple_
from sqlalchemy.sql.elements import BindParameter, ColumnElement

from server.domain.chunk import Chunk, joined_text
from server.storage.database import Database
from server.storage.schema.content import chunks, pages
from server.storage.schema.sites import sites
from server.storage.statements import AnyRow, AnySelect, among

BATCH = 1000
MOST_KEPT = 3000
"""Chunks, pages and texts of pages that a process keeps in memory, of all sites together."""
ZERO: ColumnElement[int] = literal_column("0")
NEVER: ColumnElement[int] = literal_column("2147483647")


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page without its chunks."""

    url: str
    title: str
    language: str
    content_hash: str
    etag: str
    last_modified: str
    missed: int
    """How many crawls in a row did not find the page."""
    fetched_at: datetime
    first_seen_at: datetime | None = field(default=None, compare=False)
    """When it was first read, at this address or an earlier one; None: just now."""
    source: str = ""
    """Where the page comes from when it is not a page of the website, such as an upload."""


_CHUNK = (
    *(chunks.c.id, chunks.c.url, chunks.c.title, chunks.c.heading_path),
    *(chunks.c.text, chunks.c.position, chunks.c.language, chunks.c.anchor, chunks.c.kind, chunks.c.dated),
)
_PAGE = (
    *(pages.c.url, pages.c.title, pages.c.language, pages.c.content_hash),
    *(pages.c.etag, pages.c.last_modified, pages.c.missed, pages.c.fetched_at),
    *(pages.c.first_seen_at, pages.c.source),
)


def alive_in(table: Table, generation: ColumnElement[int]) -> ColumnElement[bool]:
    """The rows of a table with `born` and `died` that a reader of `generation` sees."""
    # Spelt so that SQLite cannot walk an index of generations, which holds every chunk of the site: it has
    # no statistics here, and would rather do that than look up the few ids or the page asked for.
    return and_(table.c.born + ZERO <= generation, func.coalesce(table.c.died, NEVER) > generation)


class _Statements:
    """The statements of readers: of the live generation, found in the same round trip, or of a given one."""

    def __init__(self, *, live: bool) -> None:
        site: BindParameter[str] = bindparam("site")
        at: ColumnElement[int] = sites.c.generation if live else bindparam("generation")
        own = [sites.c.id == site] if live else []
        self._chunks = select(*_CHUNK).where(chunks.c.site_id == site, *own, alive_in(chunks, at))
        of_pages = (pages.c.site_id == site, *own, alive_in(pages, at))
        self._pages = select(*_PAGE).where(*of_pages)
        self._by_id: dict[str, AnySelect] = {}
        self.page = self._chunks.where(chunks.c.url == bindparam("url")).order_by(chunks.c.position)
        self.find = self._pages.where(pages.c.url == bindparam("url"))
        listed = self._pages.order_by(pages.c.url)
        self.pages = listed.limit(bindparam("count")).offset(bindparam("skip"))
        held = (
            func.lower(column).contains(bindparam("search"), autoescape=False, escape="\\")
            for column in (pages.c.url, pages.c.title)
        )
        self.searched = self.pages.where(or_(*held))
        self.hashes = self._pages.with_only_columns(pages.c.url, pages.c.content_hash)
        self.counts = select(
            self._pages.with_only_columns(func.count(pages.c.url)).scalar_subquery(),
            self._chunks.with_only_columns(func.count(chunks.c.id)).scalar_subquery(),
        )

    def by_id(self, dialect: str) -> AnySelect:
        """Chunks whose id is in the list bound to `ids`."""
        if dialect not in self._by_id:
            self._by_id[dialect] = self._chunks.where(among(dialect, chunks.c.id, "ids"))
        return self._by_id[dialect]


_LIVE, _GIVEN = _Statements(live=True), _Statements(live=False)
_GENERATION = select(sites.c.generation, sites.c.created_at).where(sites.c.id == bindparam("site"))
_NEXT_BATCH = (
    select(*_CHUNK)
    .where(
        chunks.c.site_id == bindparam("site"),
        alive_in(chunks, bindparam("generation")),
        tuple_(chunks.c.url, chunks.c.position, chunks.c.id)
        > tuple_(bindparam("url"), bindparam("position"), bindparam("id")),
    )
    .order_by(chunks.c.url, chunks.c.position, chunks.c.id)
    .limit(bindparam("count"))
)


LiveState = tuple[str, int, datetime | None]
"""Site, live generation, and when the site was created: live content changes with these alone."""


class _Kept:
    """Live content by state and key, as it was read. Threads share it: at worst two read the same."""

    def __init__(self) -> None:
        self.chunks: dict[tuple[LiveState, str], Chunk] = {}
        self.pages: dict[tuple[LiveState, str], list[Chunk]] = {}
        self.texts: dict[tuple[LiveState, str], str] = {}

    def bound(self) -> None:
        """Start again when there is too much."""
        if len(self.chunks) + sum(map(len, self.pages.copy().values())) > MOST_KEPT:
            self.chunks, self.pages, self.texts = {}, {}, {}


_kept: WeakKeyDictionary[Database, _Kept] = WeakKeyDictionary()
"""By database, for all readers of it."""


@dataclass(slots=True)
class _Reading:
    """One live generation, as one thread sees it for a while."""

    state: LiveState | None = None
    is_open: bool = True


@dataclass(slots=True)
class Holdout:
    """Pages that a reader hides or adds, for evaluations. A strategy returns only chunks that it loaded from
    the reader, so it never finds a hidden page."""

    hides: Callable[[str], bool] = lambda url: False
    """Whether a page is hidden, by its stored address."""
    added: dict[str, list[Chunk]] = field(default_factory=dict)
    """Pages that are read as if they were stored, by address."""


class ContentReader:
    """Pages and chunks of one site as visitors see them; nothing for an unknown site.

    With `generation` they are read as if that generation were live, to measure an index before it goes live.
    """

    def __init__(
        self, db: Database, site_id: str, generation: int | None = None, holdout: Holdout | None = None
    ) -> None:
        self._db = db
        self.site_id = site_id
        self._statements = _LIVE if generation is None else _GIVEN
        self._generation = generation
        self._values = {"site": site_id} | ({} if generation is None else {"generation": generation})
        self.holdout = holdout or Holdout()
        self._readings = threading.local()
        self._kept = _kept.setdefault(db, _Kept())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within it, this thread sees one live generation, which is looked up once."""
        outer: _Reading | None = getattr(self._readings, "now", None)
        if outer is not None and outer.is_open:
            yield
            return
        reading = self._readings.now = _Reading()
        try:
            yield
        finally:
            # Another thread may end it, where a stream of answers is given up: what is closed is not used.
            reading.is_open = False

    def _state(self) -> LiveState:
        reading: _Reading | None = getattr(self._readings, "now", None)
        is_open = reading is not None and reading.is_open
        if reading is not None and is_open and reading.state is not None:
            return reading.state
        with self._db.connect() as connection:
            row = connection.execute(_GENERATION, self._values).first()
        state = (self.site_id, int(row[0] or 0), row[1]) if row else (self.site_id, 0, None)
        if reading is not None and is_open:
            reading.state = state
        return state

    def pinned(self) -> ContentReader:
        """A reader of the generation that is live now, also after the next one has gone live."""
        return ContentReader(self._db, self.site_id, self.live_generation(), self.holdout)

    def live_generation(self) -> int:
        """The generation that is read; 0 when there is none yet."""
        if self._generation is not None:
            return self._generation
        with self._db.connect() as connection:
            return int(connection.execute(_GENERATION, self._values).scalar() or 0)

    def load(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids, by id, in the order of `ids`. Unknown ids are left out."""
        if self._generation is not None:
            found = self._loaded(ids, self._values)
        else:
            state = self._state()
            kept = self._kept.chunks
            found = {id: kept[state, id] for id in ids if (state, id) in kept}
            missing = [id for id in ids if id not in found]
            if missing:
                read = self._loaded(missing, {**self._values, "generation": state[1]})
                found |= read
                kept.update({(state, id): chunk for id, chunk in read.items()})
                self._kept.bound()
        hides = self.holdout.hides
        return {id: found[id] for id in ids if id in found and not hides(found[id].url)}

    def page(self, url: str) -> list[Chunk]:
        """All chunks of a page, in page order; [] for an unknown page."""
        if url in self.holdout.added:
            return self.holdout.added[url]
        if self.holdout.hides(url):
            return []
        if self._generation is not None:
            return self._page(url, self._values)
        state = self._state()
        kept = self._kept.pages
        found = kept.get((state, url))
        if found is None:
            found = self._page(url, {**self._values, "generation": state[1]})
            if found:
                kept[state, url] = found
                self._kept.bound()
        return list(found)

    def page_text(self, url: str) -> str:
        """The text of a page; "" for an unknown page."""
        if self._generation is not None or url in self.holdout.added or self.holdout.hides(url):
            return joined_text(self.page(url))
        key, kept = (self._state(), url), self._kept.texts
        text = kept.get(key)
        if text is None:
            text = joined_text(self.page(url))
            if text:
                kept[key] = text
        return text

    def _loaded(self, ids: Sequence[str], values: Mapping[str, Any]) -> dict[str, Chunk]:
        with self._db.connect() as connection:
            statement = _GIVEN.by_id(self._db.dialect)
            rows = connection.execute(statement, {**values, "ids": list(ids)}).all()
        return {row[0]: chunk_of(row) for row in rows}

    def _page(self, url: str, values: Mapping[str, Any]) -> list[Chunk]:
        with self._db.connect() as connection:
            rows = connection.execute(_GIVEN.page, {**values, "url": url}).all()
        return [chunk_of(row) for row in rows]

    def pages(self, *, limit: int = 100, offset: int = 0, search: str = "") -> list[PageRecord]:
        """Pages by address; with `search`, those whose address or title contains it, in any case."""
        values = {**self._values, "count": limit, "skip": offset}
        statement = self._statements.pages
        if search:
            statement = self._statements.searched
            values["search"] = literal_pattern(search.lower())
        with self._db.connect() as connection:
            found = [page_of(row) for row in connection.execute(statement, values)]
        return [page for page in found if not self.holdout.hides(page.url)]

    def live_hashes(self) -> dict[str, str]:
        """Address -> content hash of every page; "-" for a page without a known hash."""
        with self._db.connect() as connection:
            rows = connection.execute(self._statements.hashes, self._values)
            return {url: content_hash or "-" for url, content_hash in rows}

    def find(self, url: str) -> PageRecord | None:
        """A page by its address."""
        with self._db.connect() as connection:
            row = connection.execute(self._statements.find, {**self._values, "url": url}).first()
        return None if row is None else page_of(row)

    def counts(self) -> tuple[int, int]:
        """How many pages and chunks there are."""
        with self._db.connect() as connection:
            live_pages, live_chunks = connection.execute(self._statements.counts, self._values).one()
        return int(live_pages), int(live_chunks)

    def every_chunk(self) -> Iterator[Chunk]:
        """All chunks of the generation that is live when the iteration begins, page by page, one batch in
        memory at a time."""
        after: dict[str, Any] = {"url": "", "position": -1, "id": ""}
        after |= {"site": self.site_id, "generation": self.live_generation(), "count": BATCH}
        while True:
            with self._db.connect() as connection:
                rows = connection.execute(_NEXT_BATCH, after).all()
            yield from (chunk for chunk in map(chunk_of, rows) if not self.holdout.hides(chunk.url))
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
