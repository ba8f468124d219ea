"""The content of a site at one generation, which need not be the live one: for measuring an index before it
goes live. Visitors are answered from `LiveContent`, which pays nothing for this."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlalchemy import bindparam, func, select
from sqlalchemy.sql.elements import BindParameter

from server.domain.chunk import Chunk
from server.storage.content import ContentStore
from server.storage.database import Database
from server.storage.live_content import PageRecord, alive_in, chunk_of, page_of
from server.storage.statements import AnySelect, among
from server.storage.tables import chunks, pages

_AT: BindParameter[int] = bindparam("generation")
_CHUNK = [chunks.c[name] for name in Chunk.__dataclass_fields__]
_OF_CHUNKS = (chunks.c.site_id == bindparam("site"), alive_in(chunks, _AT))
_OF_PAGES = (pages.c.site_id == bindparam("site"), alive_in(pages, _AT))
_BY_URL = select(*_CHUNK).where(*_OF_CHUNKS, chunks.c.url == bindparam("url")).order_by(chunks.c.position)
_PAGES = select(*(pages.c[name] for name in PageRecord.__dataclass_fields__)).where(*_OF_PAGES)
_COUNTS = select(
    select(func.count()).select_from(pages).where(*_OF_PAGES).scalar_subquery(),
    select(func.count()).select_from(chunks).where(*_OF_CHUNKS).scalar_subquery(),
)


@cache
def _by_id(dialect: str) -> AnySelect:
    return select(*_CHUNK).where(*_OF_CHUNKS, among(dialect, chunks.c.id, "ids"))


class AtGeneration(ContentStore):
    """As a reader would see it if `generation` were live; without one, what is live."""

    def __init__(self, db: Database, site_id: str, generation: int | None = None) -> None:
        super().__init__(db, site_id)
        self.generation = generation

    def live_generation(self) -> int:
        """The one that is looked at."""
        return super().live_generation() if self.generation is None else self.generation

    def load(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Those of these chunks that are alive in it, by id, in the order asked for."""
        if self.generation is None:
            return super().load(ids)
        with self._db.connect() as connection:
            values = {**self._at(), "ids": list(ids)}
            rows = connection.execute(_by_id(self._db.dialect), values).all()
        found = {row.id: chunk_of(row) for row in rows}
        return {id: found[id] for id in ids if id in found}

    def page(self, url: str) -> list[Chunk]:
        """All chunks of a page, in page order; [] for an unknown page."""
        if self.generation is None:
            return super().page(url)
        with self._db.connect() as connection:
            return [chunk_of(row) for row in connection.execute(_BY_URL, {**self._at(), "url": url})]

    def pages(self, *, limit: int = 100, offset: int = 0, search: str = "") -> list[PageRecord]:
        """Pages by address; at a named generation `search` looks at addresses alone."""
        if self.generation is None:
            return super().pages(limit=limit, offset=offset, search=search)
        wanted = _PAGES.order_by(pages.c.url).limit(limit).offset(offset)
        if search:
            wanted = wanted.where(func.lower(pages.c.url).contains(search.lower(), autoescape=True))
        with self._db.connect() as connection:
            return [page_of(row) for row in connection.execute(wanted, self._at())]

    def has_page(self, url: str) -> bool:
        """Whether it has a page under this very address."""
        values = {"site": self.site_id, "generation": self.live_generation(), "url": url}
        with self._db.connect() as connection:
            one = connection.execute(_PAGES.where(pages.c.url == bindparam("url")), values)
            return one.first() is not None

    def counts(self) -> tuple[int, int]:
        """How many pages and chunks there are."""
        if self.generation is None:
            return super().counts()
        with self._db.connect() as connection:
            found_pages, found_chunks = connection.execute(_COUNTS, self._at()).one()
        return int(found_pages), int(found_chunks)

    def _at(self) -> dict[str, object]:
        return {"site": self.site_id, "generation": self.generation}
