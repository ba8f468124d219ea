"""Reads pages and chunks of a site, with one statement per call, because every answer needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import FromClause, ScalarSelect, and_, bindparam, func, literal_column, select, tuple_
from sqlalchemy.sql.elements import BindParameter, ColumnElement

from server.domain.chunk import Chunk, joined_text
from server.storage.database import Database
from server.storage.schema.content import chunks, page_facts, pages
from server.storage.schema.sites import sites
from server.storage.statements import among
from server.storage.store import SiteRows, columns_of

BATCH = 1000
MOST_KEPT = 6000
"""Maximum number of chunks that a process keeps in memory, for all sites together: 9 MB, and 4 MB for the
texts of their pages."""
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
    """Number of consecutive crawls that did not find the page."""
    fetched_at: datetime
    first_seen_at: datetime | None = field(default=None, compare=False)
    """When it was first crawled, at this address or an earlier one; None means just now."""
    source: str = ""
    """Source of a page that is not part of the website, such as an upload."""
    variant_group: str = ""
    """Shared by the variants of a page in several languages, see crawler.judging.variants."""


CHUNK, PAGE = columns_of(Chunk, chunks), columns_of(PageRecord, pages)


def alive_in(table: FromClause, generation: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition for rows with `born` and `died` that a reader of `generation` sees."""
    # Written so that SQLite cannot use an index of generations, which contains every chunk of the site.
    # Without statistics SQLite would prefer it to looking up the few requested ids or the page.
    return and_(table.c.born + ZERO <= generation, func.coalesce(table.c.died, NEVER) > generation)


class _Statements:
    """Statements for the live generation, looked up in the same round trip, or for a given generation."""

    def __init__(self, *, live: bool) -> None:
        site: BindParameter[str] = bindparam("site")
        at: ColumnElement[int] = sites.c.generation if live else bindparam("generation")
        own = [sites.c.id == site] if live else []
        of_pages = select(*PAGE).where(pages.c.site_id == site, *own, alive_in(pages, at))
        self.find = of_pages.where(pages.c.url == bindparam("url"))
        self.pages = of_pages.order_by(pages.c.url).limit(bindparam("count"))
        self.hashes = of_pages.with_only_columns(pages.c.url, pages.c.content_hash)
        self.ids = select(chunks.c.id).where(chunks.c.site_id == site, *own, alive_in(chunks, at))
        # Written so that only the index of generations is read, which contains every chunk of the site.
        counted = (
            select(func.count()).where(
                table.c.site_id == site, *own, table.c.born <= at, func.coalesce(table.c.died, NEVER) > at
            )
            for table in (pages, chunks)
        )
        self.counts = select(*(one.scalar_subquery() for one in counted))


_LIVE, _GIVEN = _Statements(live=True), _Statements(live=False)
_CHUNKS = select(*CHUNK).where(
    chunks.c.site_id == bindparam("site"), alive_in(chunks, bindparam("generation"))
)
_PAGE_CHUNKS = _CHUNKS.where(chunks.c.url == bindparam("url")).order_by(chunks.c.position)
_BY_ID = {dialect: _CHUNKS.where(among(dialect, chunks.c.id, "ids")) for dialect in ("sqlite", "postgresql")}
_ONE_DAY, _SHARE = 5, 0.2
"""More pages of one day, and such a share of all, were not written then, but put online together."""
_OF_KIND = (
    *(chunks.c.site_id == bindparam("site"), alive_in(chunks, bindparam("generation"))),
    *(chunks.c.kind == bindparam("kind"), chunks.c.position == 0),
    *(chunks.c.dated != "", chunks.c.dated <= bindparam("until")),
)
_DAYS = (
    select(chunks.c.dated, chunks.c.language, func.count())
    .where(*_OF_KIND)
    .group_by(chunks.c.dated, chunks.c.language)
    .order_by(chunks.c.dated.desc())
)
_NEWEST = {
    dialect: select(*CHUNK)
    .where(*_OF_KIND, among(dialect, chunks.c.dated, "days"), among(dialect, chunks.c.language, "languages"))
    .order_by(chunks.c.dated.desc(), chunks.c.url)
    .limit(bindparam("count"))
    for dialect in ("sqlite", "postgresql")
}
_own, _other = pages.alias("own"), pages.alias("other")
_VARIANTS = {
    dialect: select(_own.c.url, _own.c.language, _other.c.url, _other.c.language).where(
        *(_own.c.site_id == bindparam("site"), alive_in(_own, bindparam("generation"))),
        *(_other.c.site_id == bindparam("site"), alive_in(_other, bindparam("generation"))),
        *(_own.c.variant_group != "", _other.c.variant_group == _own.c.variant_group),
        among(dialect, _own.c.url, "urls"),
    )
    for dialect in ("sqlite", "postgresql")
}
MOST_IN_A_LANGUAGE = 2
"""Pages of a group in one language, for two countries. A group of more was made by a menu that leads all its
pages to one, so they are no variants."""
_FACTS = select(page_facts.c.facts).where(
    page_facts.c.site_id == bindparam("site"), page_facts.c.url == bindparam("url")
)
_GENERATION = select(sites.c.generation, sites.c.created_at).where(sites.c.id == bindparam("site"))
_NEXT_BATCH = (
    _CHUNKS.where(
        tuple_(chunks.c.url, chunks.c.position, chunks.c.id)
        > tuple_(bindparam("url"), bindparam("position"), bindparam("id"))
    )
    .order_by(chunks.c.url, chunks.c.position, chunks.c.id)
    .limit(bindparam("count"))
)


LiveState = tuple[str, int, datetime | None]
"""Site, live generation, and when the site was created. Live content changes only with these."""


@dataclass(slots=True)
class _Content:
    """What was read of one live state: chunks by id; chunks, text and links of a page by its address."""

    chunks: dict[str, Chunk] = field(default_factory=dict)
    pages: dict[str, list[Chunk]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def add(self, read: Iterable[Chunk]) -> list[Chunk]:
        """Keep chunks, and return the kept ones: caches of what is derived from a chunk find the same object
        again."""
        return [self.chunks.setdefault(chunk.id, chunk) for chunk in read]


class _Kept:
    """Cache of live content. Threads share it: at worst, two read the same."""

    def __init__(self) -> None:
        self._of: dict[LiveState, _Content] = {}

    def of(self, state: LiveState) -> _Content:
        """Return what is kept of a state. Everything is forgotten when it is too much."""
        known = self._of.get(state)
        if known is None or sum(len(one.chunks) for one in self._of.copy().values()) > MOST_KEPT:
            self._of = {state: _Content()} if known else {**self._of, state: _Content()}
            known = self._of[state]
        return known


_kept: WeakKeyDictionary[Database, _Kept] = WeakKeyDictionary()
"""Caches by database, shared by all its readers."""


@dataclass(slots=True)
class _Reading:
    """The live generation that one thread reads consistently."""

    state: LiveState | None = None
    is_open: bool = True


@dataclass(slots=True)
class Holdout:
    """Pages that a reader hides or adds, for evaluations. A strategy returns only chunks that it loaded from
    the reader, so it never finds a hidden page."""

    hides: Callable[[str], bool] = lambda url: False
    """Returns whether a page is hidden, by its stored address."""
    added: dict[str, list[Chunk]] = field(default_factory=dict)
    """Additional pages, by address."""


class ContentReader(SiteRows):
    """Reads the live pages and chunks of one site. An unknown site has none.

    With `generation` it reads that generation instead, to measure an index before it goes live.
    """

    def __init__(
        self, db: Database, site_id: str, generation: int | None = None, holdout: Holdout | None = None
    ) -> None:
        super().__init__(db, site_id)
        self._statements = _LIVE if generation is None else _GIVEN
        self._generation = generation
        self._values: dict[str, Any] = {"site": site_id}
        if generation is not None:
            self._values["generation"] = generation
        self.holdout = holdout or Holdout()
        self._readings = threading.local()
        self._kept = _kept.setdefault(db, _Kept())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let this thread see one live generation, which is looked up only once."""
        outer: _Reading | None = getattr(self._readings, "now", None)
        if outer is not None and outer.is_open:
            yield
            return
        reading = self._readings.now = _Reading()
        try:
            yield
        finally:
            # Another thread may end it when a stream is abandoned, so a closed reading is not used.
            reading.is_open = False

    def _state(self) -> LiveState:
        reading: _Reading | None = getattr(self._readings, "now", None)
        if reading is None or not reading.is_open:
            reading = _Reading()
        if reading.state is None:
            row = self._row(_GENERATION, self._values)
            reading.state = (self.site_id, int(row[0] or 0), row[1]) if row else (self.site_id, 0, None)
        return reading.state

    def pinned(self) -> ContentReader:
        """Return a reader of the current generation, even after the next one goes live."""
        return ContentReader(self._db, self.site_id, self.live_generation(), self.holdout)

    def live_generation(self) -> int:
        """Return the generation that is read; 0 if there is none yet."""
        if self._generation is not None:
            return self._generation
        return int(self._scalar(_GENERATION, self._values) or 0)

    def _content(self) -> tuple[_Content, dict[str, Any]]:
        """Return what is kept of the generation that is read, and the values of a statement that reads it. Of
        a given generation nothing is kept, because it may still be built."""
        if self._generation is not None:
            return _Content(), self._values
        state = self._state()
        return self._kept.of(state), {**self._values, "generation": state[1]}

    def load(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, by id, in the order of `ids`. Unknown ids are left out."""
        content, values = self._content()
        if missing := [id for id in ids if id not in content.chunks]:
            rows = self._rows(_BY_ID[self._db.dialect], {**values, "ids": missing})
            content.add(Chunk(*row) for row in rows)
        found, hides = content.chunks, self.holdout.hides
        return {id: found[id] for id in ids if id in found and not hides(found[id].url)}

    def page(self, url: str) -> list[Chunk]:
        """Return all chunks of a page, in page order; [] for an unknown page."""
        if url in self.holdout.added:
            return self.holdout.added[url]
        if self.holdout.hides(url):
            return []
        content, values = self._content()
        found = content.pages.get(url)
        if found is None:
            rows = self._rows(_PAGE_CHUNKS, {**values, "url": url})
            found = content.add(Chunk(*row) for row in rows)
            if found:
                content.pages[url] = found
        return list(found)

    def newest(self, kind: str, language: str, until: date, limit: int) -> list[Chunk]:
        """Return the first chunks of the pages of a kind that are dated until this day, the newest first: of
        those in this language, or of all if there are none. A day that a large share of them has is that of
        a new edition of the site, and left out."""
        values = {**self._content()[1], "kind": kind, "until": until.isoformat(), "count": limit}
        counts = [tuple(row) for row in self._rows(_DAYS, values)]
        counts = [row for row in counts if row[1] == language] or counts
        most = max(_ONE_DAY, _SHARE * sum(count for *_, count in counts))
        days = list(dict.fromkeys(day for day, _, count in counts if count <= most))[:limit]
        values |= {"days": days, "languages": list({spoken for _, spoken, _ in counts})}
        found = [Chunk(*row) for row in self._rows(_NEWEST[self._db.dialect], values)]
        return [chunk for chunk in found if not self.holdout.hides(chunk.url)]

    def page_text(self, url: str) -> str:
        """Return the text of a page; "" for an unknown page."""
        if url in self.holdout.added or self.holdout.hides(url):
            return joined_text(self.page(url))
        kept = self._content()[0].texts
        text = kept.get(url)
        if text is None:
            text = joined_text(self.page(url))
            if text:
                kept[url] = text
        return text

    def links(self, url: str) -> tuple[tuple[str, str], ...]:
        """Return (address, words) of the links on a page, from its last crawl; () for an unknown page."""
        kept = self._kept.of(self._state()).links
        found = kept.get(url)
        if found is None:
            read = self._scalar(_FACTS, {"site": self.site_id, "url": url})
            kept[url] = found = tuple((address, words) for address, words in read["links"]) if read else ()
        return found

    def pages(self, *, limit: int = 100) -> list[PageRecord]:
        """Return the first pages by address."""
        rows = self._rows(self._statements.pages, {**self._values, "count": limit})
        return [page for page in (PageRecord(*row) for row in rows) if not self.holdout.hides(page.url)]

    def live_hashes(self) -> dict[str, str]:
        """Return the content hash of every page by address; "-" for a page without a known hash."""
        rows = self._rows(self._statements.hashes, self._values)
        return {url: content_hash or "-" for url, content_hash in rows}

    def find(self, url: str) -> PageRecord | None:
        """Return a page by its address, or None."""
        row = self._row(self._statements.find, {**self._values, "url": url})
        return None if row is None else PageRecord(*row)

    def variants(self, urls: Collection[str], language: str) -> dict[str, str]:
        """Return the address of the variant in this language, for those of the pages that have one and are in
        another language."""
        values = {**self._content()[1], "urls": list(urls)}
        groups: dict[tuple[str, str], dict[str, list[str]]] = {}
        for url, own, other, spoken in self._rows(_VARIANTS[self._db.dialect], values):
            groups.setdefault((url, own), {}).setdefault(spoken, []).append(other)
        return {
            url: variants[0]
            for (url, own), group in groups.items()
            if own != language and len(group[own]) <= MOST_IN_A_LANGUAGE
            if (variants := sorted(one for one in group.get(language, ()) if not self.holdout.hides(one)))
            if len(variants) <= MOST_IN_A_LANGUAGE
        }

    def counts(self) -> tuple[int, int]:
        """Return the number of pages and of chunks."""
        live_pages, live_chunks = self._rows(self._statements.counts, self._values)[0]
        return int(live_pages), int(live_chunks)

    def ids(self) -> set[str]:
        """Return the ids of all chunks."""
        return set(self._scalars(self._statements.ids, self._values))

    def every_chunk(self) -> Iterator[Chunk]:
        """Yield all chunks of the generation that is live when the iteration begins, page by page. Only one
        batch is in memory at a time."""
        after: dict[str, Any] = {"url": "", "position": -1, "id": ""}
        after |= {"site": self.site_id, "generation": self.live_generation(), "count": BATCH}
        while True:
            rows = self._rows(_NEXT_BATCH, after)
            yield from (Chunk(*row) for row in rows if not self.holdout.hides(row.url))
            if len(rows) < BATCH:
                return
            after |= {"url": rows[-1].url, "position": rows[-1].position, "id": rows[-1].id}


def generation_of(site_id: str) -> ScalarSelect[int]:
    """Return the live generation of a site, for use in a statement."""
    return select(sites.c.generation).where(sites.c.id == site_id).scalar_subquery()


def stored_rows(database: Database) -> dict[str, float]:
    """Return the number of rows of all sites, also of indexes that are being built, by table."""
    counts = [select(func.count()).select_from(table).scalar_subquery() for table in (pages, chunks)]
    with database.connect() as connection:
        found = connection.execute(select(*counts)).one()
    return {"pages": float(found[0]), "chunks": float(found[1])}
