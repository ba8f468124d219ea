"""Citations of pages: their number, the quoted words, and quotes that are no longer on their page."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from server.storage.columns import now
from server.storage.schema.content import page_citations as citations
from server.storage.schema.content import page_quotes as quotes
from server.storage.schema.conversations import cited
from server.storage.statements import among
from server.storage.store import SiteRows, columns_of

LOOKED_AT = 2000
"""Number of newest citations of a page that are grouped by quote."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that were quoted from a page."""

    text: str
    times: int
    """Number of occurrences among the newest citations of the page."""
    last_at: datetime


class CitedPages(SiteRows):
    """Citations of one site, by the addresses that visitors open (see server.domain.addresses)."""

    def urls(self) -> set[str]:
        """Return the addresses of all pages that were ever cited."""
        return set(self._scalars(select(citations.c.url).where(citations.c.site_id == self.site_id)))

    def figures(self, urls: Collection[str]) -> dict[str, tuple[int, datetime]]:
        """Return (times cited, last cited) by address, for the pages that were cited."""
        counted = select(citations.c.url, citations.c.times, citations.c.last_at).where(
            citations.c.site_id == self.site_id, among(self._db.dialect, citations.c.url, "urls")
        )
        rows = self._rows(counted, {"urls": sorted(urls)})
        return {url: (times, last) for url, times, last in rows}

    def quotes(self, url: str, limit: int) -> list[Quote]:
        """Return distinct quotes from a page, the most recent first."""
        newest = (
            select(cited.c.quote, cited.c.at, cited.c.message_id)
            .where(cited.c.site_id == self.site_id, cited.c.url == url)
            .order_by(cited.c.at.desc())
            .limit(LOOKED_AT)
            .subquery()
        )
        times, last = func.count(), func.max(newest.c.at)
        grouped = select(newest.c.quote, times, last).group_by(newest.c.quote)
        rows = self._rows(grouped.order_by(last.desc(), newest.c.quote).limit(limit))
        return [Quote(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class QuoteHealth:
    """The state of the quotes from one page."""

    url: str
    content_hash: str
    """Hash of the text that was checked; empty if the page was not in the index."""
    broken: int
    """Number of the checked quotes that were no longer on the page."""
    checked_at: datetime


_COLUMNS = columns_of(QuoteHealth, quotes)


class PageQuotes(SiteRows):
    """The state of the quotes from the pages of one site."""

    def hashes(self) -> dict[str, str]:
        """Return each page's content hash at its last check, by address."""
        own = select(quotes.c.url, quotes.c.content_hash).where(quotes.c.site_id == self.site_id)
        return {row.url: row.content_hash for row in self._rows(own)}

    def put(self, url: str, content_hash: str, checked: int, broken: int) -> None:
        """Store the result of a check of a page. Raises UnknownSite."""
        row = {"site_id": self.site_id, "url": url, "content_hash": content_hash, "checked": checked}
        row |= {"broken": broken, "checked_at": now()}
        self._put(quotes, row)

    def remove(self, urls: Collection[str]) -> None:
        """Delete the results of these pages."""
        self._remove(quotes, urls)

    def lost(self, limit: int, offset: int = 0) -> list[QuoteHealth]:
        """Return quoted pages that are no longer in the index, most quotes first."""
        own = select(*_COLUMNS).where(quotes.c.site_id == self.site_id, quotes.c.content_hash == "")
        rows = self._rows(own.order_by(quotes.c.broken.desc(), quotes.c.url).limit(limit).offset(offset))
        return [QuoteHealth(*row) for row in rows]

    def counts(self) -> tuple[int, int]:
        """Return (pages in the index with a broken quote, quoted pages no longer in the index)."""
        live = func.count().filter(quotes.c.broken > 0, quotes.c.content_hash != "")
        gone = func.count().filter(quotes.c.content_hash == "")
        row = self._rows(select(live, gone).where(quotes.c.site_id == self.site_id))[0]
        return int(row[0]), int(row[1])
