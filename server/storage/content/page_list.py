"""The list of pages for operators, with what each page contributes to answers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select, true

from server.storage.content.decisions import HAS_NEWS
from server.storage.content.reader import alive_in
from server.storage.database import Database
from server.storage.schema.content import page_citations as citations
from server.storage.schema.content import page_decisions as decisions
from server.storage.schema.content import page_quotes as quotes
from server.storage.schema.content import pages
from server.storage.schema.sites import sites
from server.storage.store import SiteRows

ADDRESS, TIMES, LAST = "address", "times", "last"
SORTS = (ADDRESS, TIMES, LAST)
EDITED, NEWS, PINNED, CITED, UNCITED, BROKEN = "edited", "news", "pinned", "cited", "uncited", "broken"
STATES = (CITED, UNCITED, BROKEN, EDITED, NEWS, PINNED)
"""Filters by state, one at a time."""
WEBSITE, ELSEWHERE = "website", "elsewhere"


@dataclass(frozen=True, slots=True)
class PageFilter:
    """Filters of the list; an empty field does not filter."""

    search: str = ""
    """Part of the address or the title, ignoring case."""
    language: str = ""
    source: str = ""
    """WEBSITE, or ELSEWHERE: files, single pages, pairs."""
    state: str = ""
    """Empty, or one of STATES."""
    sort: str = ADDRESS
    """One of SORTS: by address, or most often or most recently cited first."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One page in the list."""

    url: str
    title: str
    language: str
    source: str
    fetched_at: datetime
    edited: bool = False
    pinned: bool = False
    has_news: bool = False
    broken: int = 0
    """Number of quotes that were no longer on the page at its last change."""


class PageList(SiteRows):
    """Live pages of one site. `base` is Docent's public address, which serves uploaded pages."""

    def __init__(self, db: Database, site_id: str, base: str) -> None:
        super().__init__(db, site_id)
        is_own = pages.c.url.startswith("/")
        self._address: ColumnElement[str] = case((is_own, base + pages.c.url), else_=pages.c.url)

    def find(self, wanted: PageFilter, limit: int, offset: int = 0) -> list[ListedPage]:
        """Return matching pages in the requested order, then by address."""
        decided = and_(decisions.c.site_id == pages.c.site_id, decisions.c.url == pages.c.url)
        checked = and_(quotes.c.site_id == pages.c.site_id, quotes.c.url == pages.c.url)
        joined = pages.join(sites, self._live()).outerjoin(decisions, decided).outerjoin(quotes, checked)
        order: list[ColumnElement[Any]] = [pages.c.url]
        if wanted.sort in (TIMES, LAST):
            of_page = and_(citations.c.site_id == self.site_id, citations.c.url == self._address)
            joined = joined.outerjoin(citations, of_page)
            first = citations.c.times if wanted.sort == TIMES else citations.c.last_at
            order.insert(0, first.desc().nulls_last())
        shown = select(
            *(pages.c.url, pages.c.title, pages.c.language, pages.c.source, pages.c.fetched_at),
            func.coalesce(decisions.c.edited, False),
            func.coalesce(decisions.c.pinned, False),
            func.coalesce(HAS_NEWS, False),
            func.coalesce(quotes.c.broken, 0),
        )
        found = shown.select_from(joined).where(*self._conditions(wanted))
        rows = self._rows(found.order_by(*order).limit(limit).offset(offset))
        return [ListedPage(*row) for row in rows]

    def languages(self) -> list[str]:
        """Return the languages of the live pages, sorted."""
        spoken = select(pages.c.language).select_from(pages.join(sites, self._live())).distinct()
        return sorted(filter(None, self._scalars(spoken)))

    def _live(self) -> ColumnElement[bool]:
        return and_(
            pages.c.site_id == self.site_id,
            sites.c.id == self.site_id,
            alive_in(pages, sites.c.generation),
        )

    def _conditions(self, wanted: PageFilter) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        if wanted.search:
            texts = (pages.c.url, decisions.c.title, pages.c.title)
            conditions.append(or_(*(text.icontains(wanted.search, autoescape=True) for text in texts)))
        if wanted.language:
            conditions.append(pages.c.language == wanted.language)
        if wanted.source in (WEBSITE, ELSEWHERE):
            own = pages.c.source == ""
            conditions.append(own if wanted.source == WEBSITE else ~own)
        if wanted.state in STATES:
            conditions.append(self._state(wanted.state))
        return conditions

    def _state(self, state: str) -> ColumnElement[bool]:
        # An alias, because sorting joins the table too.
        figures = citations.alias("figures")
        own = (figures.c.site_id == self.site_id, figures.c.url == self._address)
        is_cited = exists().where(*own).correlate(pages)
        return {
            CITED: is_cited,
            UNCITED: ~is_cited,
            BROKEN: quotes.c.broken > 0,
            EDITED: decisions.c.edited == true(),
            NEWS: HAS_NEWS,
            PINNED: decisions.c.pinned == true(),
        }[state]
