"""How the quotes given on pages stand: counted when a page has changed, so that lists need not compute it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.statements import among, upsert
from server.storage.tables import of_pages

quotes = of_pages.quotes


@dataclass(frozen=True, slots=True)
class QuoteHealth:
    """Of one page, by the address at which it is stored."""

    url: str
    content_hash: str
    """Of the text in which the quotes were looked for; empty when the page was not in the index."""
    checked: int
    """Different quotes looked for, the newest ones."""
    broken: int
    """Those that did not stand there any more."""
    checked_at: datetime


_COLUMNS = tuple(quotes.c[name] for name in QuoteHealth.__dataclass_fields__)


class PageQuotes:
    """The quote health of the pages of one site."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self._site_id = site_id

    def hashes(self) -> dict[str, str]:
        """Address -> content hash with which a page was checked."""
        own = select(quotes.c.url, quotes.c.content_hash).where(quotes.c.site_id == self._site_id)
        with self._db.connect() as connection:
            return {row.url: row.content_hash for row in connection.execute(own)}

    def get(self, url: str) -> QuoteHealth | None:
        """Of one page."""
        own = select(*_COLUMNS).where(quotes.c.site_id == self._site_id, quotes.c.url == url)
        with self._db.connect() as connection:
            row = connection.execute(own).first()
        return None if row is None else QuoteHealth(*row)

    def put(self, url: str, content_hash: str, checked: int, broken: int) -> None:
        """Notes how the quotes of a page stand now. Raises UnknownSite."""
        row = {"site_id": self._site_id, "url": url, "content_hash": content_hash, "checked": checked}
        row |= {"broken": broken, "checked_at": now()}
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, quotes, key=("site_id", "url")), row)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {self._site_id!r}") from error

    def remove(self, urls: Collection[str]) -> None:
        """Of pages of which nothing is quoted any more."""
        gone = delete(quotes).where(
            quotes.c.site_id == self._site_id, among(self._db.dialect, quotes.c.url, "urls")
        )
        with self._db.begin() as connection:
            connection.execute(gone, {"urls": sorted(urls)})

    def lost(self, limit: int, offset: int = 0) -> list[QuoteHealth]:
        """Pages that were quoted and are not in the index any more, those with most quotes first."""
        own = select(*_COLUMNS).where(quotes.c.site_id == self._site_id, quotes.c.content_hash == "")
        with self._db.connect() as connection:
            rows = connection.execute(
                own.order_by(quotes.c.broken.desc(), quotes.c.url).limit(limit).offset(offset)
            )
            return [QuoteHealth(*row) for row in rows]

    def counts(self) -> tuple[int, int]:
        """(pages in the index with a broken quote, pages that were quoted and left the index)."""
        live = func.count().filter(quotes.c.broken > 0, quotes.c.content_hash != "")
        gone = func.count().filter(quotes.c.content_hash == "")
        with self._db.connect() as connection:
            row = connection.execute(select(live, gone).where(quotes.c.site_id == self._site_id)).one()
        return int(row[0]), int(row[1])
