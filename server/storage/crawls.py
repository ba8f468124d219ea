"""Every crawl of a site: how far it came, and what became of each address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownCrawl, UnknownSite
from server.storage.live_content import literal_pattern
from server.storage.statements import AnyRow, AnySelect, among, upsert
from server.storage.tables import crawl_urls, crawls

KEPT_CRAWLS = 20
"""Older crawls of a site are forgotten with their addresses when a new one starts."""


@dataclass(frozen=True, slots=True)
class UrlRow:
    """What became of one address in one crawl."""

    url: str
    state: str
    reason: str = ""
    status: int = 0
    """HTTP status; 0 when there was no answer."""
    at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """One crawl of a site."""

    id: int
    site_id: str
    state: str
    """waiting, running, done, failed or stopped."""
    started_at: datetime
    finished_at: datetime | None
    found: int
    fetched: int
    indexed: int
    message: str
    counts: dict[str, int] = field(default_factory=dict)
    """How many addresses are in each state."""


class CrawlStore:
    """Crawls of all sites."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def wait(self, site_id: str) -> int:
        """Notes that a crawl is queued; returns its number. One that waits already is that one."""
        return self._enter(site_id, "waiting")

    def start(self, site_id: str) -> int:
        """Begins a crawl, the one that waits if there is one; returns its number. Raises UnknownSite."""
        return self._enter(site_id, "running")

    def record(self, crawl_id: int, rows: Sequence[UrlRow]) -> None:
        """Notes what became of addresses; a later row of the same address replaces the earlier one."""
        values = [{"crawl_id": crawl_id, **asdict(row)} for row in rows]
        if not values:
            return
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, crawl_urls, key=("crawl_id", "url")), values)
        except IntegrityError as error:
            raise _unknown(crawl_id) from error

    def progress(self, crawl_id: int, found: int, fetched: int, indexed: int) -> None:
        """Notes how far a crawl came. Raises UnknownCrawl."""
        self._change(crawl_id, found=found, fetched=fetched, indexed=indexed)

    def finish(self, crawl_id: int, state: str, message: str = "") -> None:
        """Ends a crawl as done, failed or stopped. Raises UnknownCrawl."""
        self._change(crawl_id, state=state, message=message, finished_at=now())

    def latest(self, site_id: str) -> CrawlRun | None:
        """The newest crawl of a site."""
        runs = self.history(site_id, 1)
        return runs[0] if runs else None

    def history(self, site_id: str, limit: int = KEPT_CRAWLS) -> list[CrawlRun]:
        """Crawls of a site, the newest first."""
        newest_first = select(crawls).where(crawls.c.site_id == site_id).order_by(crawls.c.id.desc())
        return self._load(newest_first.limit(limit))

    def interrupted(self) -> list[CrawlRun]:
        """Crawls that still run by what is stored: for a worker that starts, those that a crash cut off."""
        return self._load(select(crawls).where(crawls.c.state == "running").order_by(crawls.c.id))

    def urls(
        self, crawl_id: int, state: str | None = None, search: str = "", limit: int = 100, offset: int = 0
    ) -> list[UrlRow]:
        """Addresses of a crawl, sorted; with `search`, those that contain it or whose reason does."""
        rows = select(*(crawl_urls.c[name] for name in UrlRow.__dataclass_fields__))
        rows = rows.where(crawl_urls.c.crawl_id == crawl_id)
        if state is not None:
            rows = rows.where(crawl_urls.c.state == state)
        if search:
            pattern = literal_pattern(search.lower())
            rows = rows.where(
                or_(
                    func.lower(crawl_urls.c.url).contains(pattern, escape="\\"),
                    func.lower(crawl_urls.c.reason).contains(pattern, escape="\\"),
                )
            )
        with self._db.connect() as connection:
            found = connection.execute(rows.order_by(crawl_urls.c.url).limit(limit).offset(offset))
            return [UrlRow(*row) for row in found]

    def _enter(self, site_id: str, state: str) -> int:
        waits = (crawls.c.site_id == site_id, crawls.c.state == "waiting")
        row = {"site_id": site_id, "state": state, "started_at": now(), "message": ""}
        row |= {"found": 0, "fetched": 0, "indexed": 0}
        try:
            with self._db.begin() as connection:
                waiting = connection.execute(select(crawls.c.id).where(*waits).with_for_update()).scalar()
                if waiting is not None:
                    again = update(crawls).where(crawls.c.id == waiting)
                    connection.execute(again.values(state=state, started_at=now()))
                    return int(waiting)
                made = connection.execute(insert(crawls).values(row).returning(crawls.c.id)).scalar_one()
                _forget_old(connection, site_id)
                return int(made)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {site_id!r} to crawl") from error

    def _change(self, crawl_id: int, **values: Any) -> None:
        with self._db.begin() as connection:
            changed = connection.execute(update(crawls).where(crawls.c.id == crawl_id).values(**values))
        if not changed.rowcount:
            raise _unknown(crawl_id)

    def _load(self, wanted: AnySelect) -> list[CrawlRun]:
        counted = (
            select(crawl_urls.c.crawl_id, crawl_urls.c.state, func.count())
            .where(among(self._db.dialect, crawl_urls.c.crawl_id, "ids"))
            .group_by(crawl_urls.c.crawl_id, crawl_urls.c.state)
        )
        with self._db.connect() as connection:
            rows = connection.execute(wanted).all()
            counts: dict[int, dict[str, int]] = {row.id: {} for row in rows}
            for crawl_id, state, number in connection.execute(counted, {"ids": list(counts)}):
                counts[crawl_id][state] = number
        return [_run(row, counts[row.id]) for row in rows]


def _forget_old(connection: Connection, site_id: str) -> None:
    kept = (
        select(crawls.c.id).where(crawls.c.site_id == site_id).order_by(crawls.c.id.desc()).limit(KEPT_CRAWLS)
    )
    connection.execute(delete(crawls).where(crawls.c.site_id == site_id, crawls.c.id.not_in(kept)))


def _run(row: AnyRow, counts: dict[str, int]) -> CrawlRun:
    return CrawlRun(**row._mapping, counts=counts)


def _unknown(crawl_id: int) -> UnknownCrawl:
    return UnknownCrawl(f"there is no crawl {crawl_id}: its site was deleted, or it is one of the old ones")
