"""Every crawl of a site: who works on it, how far it came, what its operator wants of it.

    waiting ──claim──> running ──finish──> done, failed, stopped
       ^                 │  ^
       │  release        │  └─ claimed again after its process was killed
       └─ release ─ paused (set_aside)

The database decides who works on a crawl: any number of workers may try. Of a site one crawl runs at a time.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now
from server.storage.crawl_runs import OPEN, PAUSED, RUNNING, WAITING, WHOLE, CrawlRun
from server.storage.crawl_urls import CrawlUrls, UrlRow
from server.storage.database import Database
from server.storage.errors import UnknownCrawl, UnknownSite
from server.storage.holders import LEASE_S, is_gone
from server.storage.statements import AnyRow, AnySelect
from server.storage.tables import crawls, sites

__all__ = ["KEPT_CRAWLS", "CrawlRun", "CrawlStore", "UrlRow"]

KEPT_CRAWLS = 20
"""Older crawls of a site are forgotten with their addresses when a new one starts."""
KEPT_PAGES = 5
"""For each crawl that is kept, so many single pages that were read, or brought in line, are too."""


class CrawlStore(CrawlUrls):
    """Crawls of all sites. Unless something else is said, those of whole sites are meant."""

    def __init__(self, db: Database, kept: int = KEPT_CRAWLS) -> None:
        super().__init__(db)
        self._kept = kept

    def wait(self, site_id: str) -> int:
        """Notes that a crawl is queued; returns its number. One that waits already is that one."""
        return self._enter(site_id, WAITING)

    def wait_for_page(self, site_id: str, kind: str, url: str) -> int:
        """The same for one page: to be read again (PAGE), or to be brought in line (DECISION)."""
        return self._enter(site_id, WAITING, kind, url)

    def start(self, site_id: str) -> int:
        """Begins a crawl, the one that waits if there is one; returns its number. Raises UnknownSite."""
        return self._enter(site_id, RUNNING)

    def claim(self, crawl_id: int, holder: str) -> CrawlRun | None:
        """Takes a crawl that waits, or whose process is gone; None when it is not to be had: somebody works
        on it or on another crawl of the site, or it has ended."""
        with self._db.begin() as connection:
            row = connection.execute(select(crawls).where(crawls.c.id == crawl_id)).first()
            if row is None:
                return None
            # Claims of one site come one after the other.
            held = select(sites.c.id).where(sites.c.id == row.site_id)
            connection.execute(held.with_for_update(key_share=True))
            same_site = select(crawls).where(crawls.c.site_id == row.site_id, crawls.c.state == RUNNING)
            running = connection.execute(same_site).all()
            if any(not _is_left(other) for other in running):
                return None
            row = connection.execute(select(crawls).where(crawls.c.id == crawl_id)).one()
            if row.state not in (WAITING, RUNNING):
                return None
            values = {"state": RUNNING, "holder": holder, "beat_at": now(), "finished_at": None}
            if row.beat_at is None:
                values["started_at"] = now()
            connection.execute(update(crawls).where(crawls.c.id == crawl_id).values(values))
        return self.get(crawl_id)

    def beat(self, crawl_id: int, holder: str) -> str | None:
        """Says that `holder` still works on a crawl; gives what is wanted of it: "", "pause" or "stop".
        None when the crawl is not its own any more."""
        mine = update(crawls).where(crawls.c.id == crawl_id, crawls.c.holder == holder)
        with self._db.begin() as connection:
            found = connection.execute(mine.values(beat_at=now()).returning(crawls.c.wanted)).first()
        return None if found is None else str(found.wanted)

    def progress(
        self,
        crawl_id: int,
        found: int,
        fetched: int,
        indexed: int,
        rate: float = 0.0,
        remaining_s: int | None = None,
    ) -> None:
        """Notes how far a crawl came. Raises UnknownCrawl."""
        values = {"found": found, "fetched": fetched, "indexed": indexed}
        self._change(crawl_id, **values, rate=rate, remaining_s=remaining_s)

    def finish(self, crawl_id: int, state: str, message: str = "") -> None:
        """Ends a crawl as done, failed or stopped. Raises UnknownCrawl."""
        counts = self.counts([crawl_id])[crawl_id]
        self._change(crawl_id, state=state, message=message, finished_at=now(), counts=counts, **_IDLE)

    def set_aside(self, run: CrawlRun, message: str = "") -> bool:
        """Keeps a crawl as paused, until it is resumed; false when its state has changed meanwhile."""
        return self._shift(run, state=PAUSED, message=message, **_IDLE)

    def release(self, run: CrawlRun, wanted: str | None = None) -> bool:
        """Lets a crawl wait for the next worker, with what is wanted of it (None: as it is); false when its
        state or its holder has changed meanwhile."""
        values = {**_IDLE, "wanted": crawls.c.wanted if wanted is None else wanted}
        return self._shift(run, state=WAITING, message="", finished_at=None, counts=None, **values)

    def want(self, run: CrawlRun, wanted: str) -> bool:
        """Tells whoever works on a crawl what its operator wants: "pause", "stop", or "" to go on; false
        when its state has changed meanwhile."""
        return self._shift(run, wanted=wanted)

    def latest(self, site_id: str) -> CrawlRun | None:
        """The newest crawl of a site."""
        runs = self.history(site_id, 1)
        return runs[0] if runs else None

    def get(self, crawl_id: int) -> CrawlRun:
        """Raises UnknownCrawl."""
        runs = self._load(select(crawls).where(crawls.c.id == crawl_id))
        if not runs:
            raise _unknown(crawl_id)
        return runs[0]

    def history(self, site_id: str, limit: int = KEPT_CRAWLS) -> list[CrawlRun]:
        """Crawls of a site, the newest first."""
        return self.runs(site_id, WHOLE, limit)

    def runs(self, site_id: str, kind: str = "", limit: int = KEPT_CRAWLS, offset: int = 0) -> list[CrawlRun]:
        """Crawls of a site, those of single pages too unless only one kind is wanted, the newest first."""
        found = select(crawls).where(crawls.c.site_id == site_id)
        if kind:
            found = found.where(crawls.c.kind == kind)
        return self._load(found.order_by(crawls.c.id.desc()).limit(limit).offset(offset))

    def latest_of_page(self, site_id: str, url: str) -> CrawlRun | None:
        """The newest run that was about this page alone."""
        of_page = select(crawls).where(
            crawls.c.site_id == site_id, crawls.c.url == url, crawls.c.kind != WHOLE
        )
        runs = self._load(of_page.order_by(crawls.c.id.desc()).limit(1))
        return runs[0] if runs else None

    def waiting(self) -> list[CrawlRun]:
        """Crawls that wait for a worker and whose site has none under way, the oldest first."""
        busy = select(crawls.c.site_id).where(crawls.c.state == RUNNING)
        free = select(crawls).where(crawls.c.state == WAITING, crawls.c.site_id.not_in(busy))
        return self._load(free.order_by(crawls.c.id))

    def interrupted(self) -> list[CrawlRun]:
        """Crawls under way whose process is gone, the oldest first."""
        under_way = select(crawls).where(crawls.c.state == RUNNING).order_by(crawls.c.id)
        with self._db.connect() as connection:
            left = [row for row in connection.execute(under_way) if _is_left(row)]
        return [_run(row, {}) for row in left]

    def is_left(self, run: CrawlRun) -> bool:
        """Whether a crawl is under way by what is stored, and nobody works on it."""
        return run.state == RUNNING and any(run.id == left.id for left in self.interrupted())

    def _enter(self, site_id: str, state: str, kind: str = WHOLE, url: str = "") -> int:
        same = (crawls.c.site_id == site_id, crawls.c.kind == kind, crawls.c.url == url)
        waits = (*same, crawls.c.state == WAITING)
        row = {"site_id": site_id, "state": state, "started_at": now(), "message": ""}
        row |= {"kind": kind, "url": url}
        row |= {"found": 0, "fetched": 0, "indexed": 0}
        try:
            with self._db.begin() as connection:
                waiting = connection.execute(select(crawls.c.id).where(*waits).with_for_update()).scalar()
                if waiting is not None:
                    if state != WAITING:
                        again = update(crawls).where(crawls.c.id == waiting)
                        connection.execute(again.values(state=state, started_at=now()))
                    return int(waiting)
                made = connection.execute(insert(crawls).values(row).returning(crawls.c.id)).scalar_one()
                _forget_old(connection, site_id, kind, self._kept)
                return int(made)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {site_id!r} to crawl") from error

    def _change(self, crawl_id: int, **values: Any) -> None:
        with self._db.begin() as connection:
            changed = connection.execute(update(crawls).where(crawls.c.id == crawl_id).values(**values))
        if not changed.rowcount:
            raise _unknown(crawl_id)

    def _shift(self, run: CrawlRun, **values: Any) -> bool:
        same = (crawls.c.id == run.id, crawls.c.state == run.state, crawls.c.holder == run.holder)
        with self._db.begin() as connection:
            return connection.execute(update(crawls).where(*same).values(**values)).rowcount == 1

    def _load(self, wanted: AnySelect) -> list[CrawlRun]:
        with self._db.connect() as connection:
            rows = connection.execute(wanted).all()
        # Of a crawl that ended the counts were stored: it may have had very many addresses.
        live = self.counts([row.id for row in rows if row.counts is None or row.state in OPEN])
        return [_run(row, live.get(row.id, row.counts)) for row in rows]


_IDLE: dict[str, Any] = {"wanted": "", "holder": "", "rate": 0.0, "remaining_s": None}


def _is_left(row: AnyRow) -> bool:
    """Whether nobody works on this crawl that is under way."""
    if row.beat_at is None or not row.holder:
        return True
    return row.beat_at < now() - timedelta(seconds=LEASE_S) or is_gone(row.holder)


def _forget_old(connection: Connection, site_id: str, kind: str, most: int) -> None:
    whole = kind == WHOLE
    same = (crawls.c.site_id == site_id, (crawls.c.kind == WHOLE) if whole else (crawls.c.kind != WHOLE))
    newest = select(crawls.c.id).where(*same).order_by(crawls.c.id.desc())
    kept = newest.limit(most if whole else most * KEPT_PAGES)
    # Of single pages many may wait: what was asked for is not forgotten.
    connection.execute(delete(crawls).where(*same, crawls.c.id.not_in(kept), crawls.c.state != WAITING))


def _run(row: AnyRow, counts: dict[str, int]) -> CrawlRun:
    values = row._mapping
    return CrawlRun(**{name: values[name] for name in CrawlRun.STORED}, counts=counts)


def _unknown(crawl_id: int) -> UnknownCrawl:
    return UnknownCrawl(f"there is no crawl {crawl_id}: its site was deleted, or it is one of the old ones")
