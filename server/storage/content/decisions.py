"""Decisions of operators about pages: corrected, excluded or pinned. Crawls do not change them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, true, update

from server.storage.columns import now
from server.storage.errors import TooManyPins
from server.storage.schema.content import page_decisions as decisions
from server.storage.statements import among, upsert
from server.storage.store import SiteRows, columns_of

MOST_PINS = 5
"""Maximum number of pinned pages of a site. Each of them takes up space in every answer."""


@dataclass(frozen=True, slots=True)
class PageDecision:
    """The decisions about one page. Without any it only keeps what is needed to undo the last one."""

    url: str
    excluded: bool = False
    pinned: bool = False
    edited: bool = False
    title: str = ""
    """The operator's title, if the page is edited."""
    text: str = ""
    """The operator's text, in Markdown."""
    accepted_hash: str = ""
    """Content hash of the website's version that the operator saw when writing or keeping the text."""
    site_hash: str = ""
    """Content hash of the website's version when it was last crawled."""
    changed_by: str = ""
    changed_at: datetime | None = None
    site_page: Mapping[str, Any] | None = None
    """The website's version, from Page.to_json."""

    @property
    def has_news(self) -> bool:
        """Whether the website's version has changed since the operator wrote this one."""
        return self.edited and bool(self.site_hash) and self.site_hash != self.accepted_hash

    @property
    def is_idle(self) -> bool:
        """Whether no decision is left."""
        return not (self.excluded or self.pinned or self.edited)


_COLUMNS = columns_of(PageDecision, decisions)
HAS_NEWS = and_(
    decisions.c.edited == true(),
    decisions.c.site_hash != "",
    decisions.c.site_hash != decisions.c.accepted_hash,
)
"""The website's version of an edited page changed since the operator wrote."""
_FOR_SEARCH = {
    dialect: select(decisions.c.url, decisions.c.excluded, decisions.c.pinned).where(
        decisions.c.site_id == bindparam("site"),
        or_(
            decisions.c.pinned == true(),
            and_(decisions.c.excluded == true(), among(dialect, decisions.c.url, "urls")),
        ),
    )
    for dialect in ("sqlite", "postgresql")
}


class PageDecisions(SiteRows):
    """Decisions about the pages of one site."""

    def get(self, url: str) -> PageDecision | None:
        """Return the decisions about one page, or None."""
        row = self._row(select(*_COLUMNS).where(*self._at(url)))
        return None if row is None else PageDecision(*row)

    def put(self, decision: PageDecision, by: str = "") -> None:
        """Store a decision, replacing the earlier one. Raises UnknownSite and TooManyPins."""
        row: dict[str, Any] = {name: getattr(decision, name) for name in PageDecision.__dataclass_fields__}
        row |= {"site_id": self.site_id, "changed_at": now(), "changed_by": by or decision.changed_by}
        pinned = select(func.count()).select_from(decisions).where(
            decisions.c.site_id == self.site_id,
            decisions.c.pinned == true(),
            decisions.c.url != decision.url,
        )  # fmt: skip
        with self._adding() as connection:
            if decision.pinned and connection.execute(pinned).scalar_one() >= MOST_PINS:
                raise TooManyPins(f"only {MOST_PINS} pages of a site may be pinned: unpin one first")
            connection.execute(upsert(self._db.dialect, decisions), row)

    def note_site_version(self, url: str, content_hash: str, page: Mapping[str, Any]) -> None:
        """Store the website's version of a page that has a decision."""
        changed = update(decisions).where(*self._at(url))
        self._write(changed.values(site_hash=content_hash, site_page=dict(page)))

    def move(self, old_url: str, new_url: str) -> bool:
        """Move a decision to the new address of its page, unless that address has one. Return whether it
        was moved."""
        if self.get(new_url) is not None:
            return False
        moved = update(decisions).where(*self._at(old_url)).values(url=new_url)
        return self._write(moved) == 1

    def tidy(self, url: str) -> None:
        """Delete the row of a page without any decision left."""
        idle = [decisions.c[name] != true() for name in ("excluded", "pinned", "edited")]
        self._write(delete(decisions).where(*self._at(url), *idle))

    def site_hashes(self) -> dict[str, str]:
        """Return the content hash of the website's version of each edited page, by address."""
        edited = (decisions.c.site_id == self.site_id, decisions.c.edited == true())
        rows = self._rows(select(decisions.c.url, decisions.c.site_hash).where(*edited))
        return {row.url: row.site_hash for row in rows}

    def for_search(self, urls: Collection[str]) -> tuple[set[str], list[str]]:
        """Return (excluded pages among these, all pinned pages). Every answer needs it: one statement."""
        values = {"site": self.site_id, "urls": sorted(urls)}
        rows = self._rows(_FOR_SEARCH[self._db.dialect], values)
        out = {row.url for row in rows if row.excluded}
        return out, sorted(row.url for row in rows if row.pinned and not row.excluded)

    def excluded(self, limit: int, offset: int = 0, search: str = "") -> list[PageDecision]:
        """Return excluded pages, sorted by address, whose address contains `search`."""
        out = (decisions.c.site_id == self.site_id, decisions.c.excluded == true())
        found = select(*_COLUMNS[:-1]).where(*out)
        if search:
            found = found.where(decisions.c.url.icontains(search, autoescape=True))
        rows = self._rows(found.order_by(decisions.c.url).limit(limit).offset(offset))
        return [PageDecision(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many pages are excluded, pinned, edited, and edited with news from the website."""
        own = decisions.c.site_id == self.site_id
        kinds = {name: decisions.c[name] == true() for name in ("excluded", "pinned", "edited")}
        counted = [
            func.count().filter(kind).label(name) for name, kind in {**kinds, "news": HAS_NEWS}.items()
        ]
        return dict(self._rows(select(*counted).where(own))[0]._mapping)

    def _at(self, url: str) -> tuple[Any, Any]:
        return decisions.c.site_id == self.site_id, decisions.c.url == url
