"""Every crawl of a site: which process works on it, its progress, and what its operator asked for.

    waiting ──claim──> running ──finish──> done, failed, stopped, held
       ^                 │  ^
       │  release        │  └─ claimed again after its process was killed
       └─ release ─ paused (set_aside)

The database decides which process works on a crawl: any number of workers may try. Only one crawl of a site
runs at a time.
"""

from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from server.storage.columns import now
from server.storage.crawls.addresses import CrawlAddresses
from server.storage.database import Database
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.leases import is_left
from server.storage.schema.sites import crawls, schedules, sites
from server.storage.statements import AnyRow, AnySelect
from server.storage.store import Store, existing, raising

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
DONE, FAILED, STOPPED = "done", "failed", "stopped"
HELD = "held"
"""Ended, but its content is not live: the quality gate holds it back."""
OPEN = frozenset({WAITING, RUNNING, PAUSED})
"""States of a crawl that has not ended."""

PAUSE, STOP = "pause", "stop"
"""Requests of an operator to a running crawl."""

WHOLE, PAGE, DECISION = "site", "page", "decision"
"""Kinds of crawls: of the whole site, of one page, or without reading: it applies the decisions of operators
to one page."""


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """One crawl of a site."""

    id: int
    site_id: str
    state: str
    """waiting, running, paused, done, failed or stopped."""
    started_at: datetime
    finished_at: datetime | None
    found: int
    fetched: int
    indexed: int
    message: str
    wanted: str = ""
    """The pending request of an operator: "pause", "stop" or empty."""
    holder: str = ""
    """The process that works on it."""
    beat_at: datetime | None = None
    """The process's last sign of life; None if no process has started it."""
    rate: float = 0.0
    """Addresses per second, recently."""
    remaining_s: int | None = None
    """Estimated seconds left at this rate; None if unknown."""
    kind: str = WHOLE
    """site, page or decision."""
    url: str = ""
    """The address, for a run about one page."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many addresses are in each state."""

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN


KEPT_CRAWLS = 20
"""Older crawls of a site are forgotten with their addresses when a new one starts."""
KEPT_PAGES = 5
"""Runs of single pages that are kept for each kept crawl."""


class CrawlStore(Store):
    """Crawls of all sites; methods that name no kind are about crawls of whole sites."""

    def __init__(self, db: Database, kept: int = KEPT_CRAWLS) -> None:
        super().__init__(db)
        self._kept = kept
        self.addresses = CrawlAddresses(db)

    def wait(self, site_id: str, kind: str = WHOLE, url: str = "") -> int:
        """Queue a crawl, or a run about one page: to read it again (PAGE), or to apply decisions to it
        (DECISION). One that is waiting already is that one. Return its number. Raises UnknownSite."""
        same = (crawls.c.site_id == site_id, crawls.c.kind == kind, crawls.c.url == url)
        waits = (*same, crawls.c.state == WAITING)
        row = {
            "site_id": site_id,
            "state": WAITING,
            "started_at": now(),
            "message": "",
            "kind": kind,
            "url": url,
        }
        row |= {"found": 0, "fetched": 0, "indexed": 0}
        with raising(UnknownSite(f"there is no site {site_id!r} to crawl")), self._db.begin() as connection:
            waiting = connection.execute(select(crawls.c.id).where(*waits).with_for_update()).scalar()
            if waiting is not None:
                return int(waiting)
            made = connection.execute(insert(crawls).values(row).returning(crawls.c.id)).scalar_one()
            _forget_old(connection, site_id, kind, self._kept)
            return int(made)

    def claim(self, crawl_id: int, holder: str) -> CrawlRun | None:
        """Claim a crawl that waits, or whose process is gone; None if it has ended, or if a process works on
        it or on another crawl of the site."""
        with self._db.begin() as connection:
            row = connection.execute(select(crawls).where(crawls.c.id == crawl_id)).first()
            if row is None:
                return None
            # Claims of one site come one after the other.
            held = select(sites.c.id).where(sites.c.id == row.site_id)
            connection.execute(held.with_for_update(key_share=True))
            same_site = select(crawls).where(crawls.c.site_id == row.site_id, crawls.c.state == RUNNING)
            running = connection.execute(same_site).all()
            if any(not is_left(other) for other in running):
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
        """Record that `holder` still works on a crawl; return the request of its operator: "", "pause" or
        "stop", or None if the crawl belongs to another holder now."""
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
        """Store the progress of a crawl that has not ended. Raises UnknownRecord."""
        values = {"found": found, "fetched": fetched, "indexed": indexed, "rate": rate}
        mine = update(crawls).where(crawls.c.id == crawl_id, crawls.c.state.in_(OPEN))
        if not self._write(mine.values(**values, remaining_s=remaining_s)):
            raise _unknown(crawl_id)

    def finish(self, crawl_id: int, state: str, message: str = "", holder: str | None = None) -> bool:
        """End a crawl as done, failed, stopped or held; false if it belongs to another holder now, which may
        have taken it over while the process was paused. Raises UnknownRecord."""
        counts = self.addresses.counts([crawl_id])[crawl_id]
        mine = update(crawls).where(crawls.c.id == crawl_id)
        if holder is not None:
            mine = mine.where(crawls.c.holder == holder)
        values = {"state": state, "message": message, "finished_at": now(), "counts": counts, **_IDLE}
        if self._write(mine.values(values)):
            return True
        self.get(crawl_id)
        return False

    def set_aside(self, run: CrawlRun) -> bool:
        """Pause a crawl; false if its state has changed in the meantime."""
        return self._shift(run, state=PAUSED, message="", **_IDLE)

    def release(self, run: CrawlRun, wanted: str | None = None, message: str = "") -> bool:
        """Return a crawl to the queue, with a new request of its operator (None: unchanged) and what it waits
        for; false if its state or its holder has changed in the meantime."""
        values = {**_IDLE, "wanted": crawls.c.wanted if wanted is None else wanted}
        return self._shift(run, state=WAITING, message=message, finished_at=None, counts=None, **values)

    def want(self, run: CrawlRun, wanted: str) -> bool:
        """Store a request for the worker of a crawl: "pause", "stop", or "" to continue; false if its
        state has changed in the meantime."""
        return self._shift(run, wanted=wanted)

    def latest(self, site_id: str) -> CrawlRun | None:
        """The newest crawl of a site."""
        return next(iter(self.history(site_id, 1)), None)

    def get(self, crawl_id: int) -> CrawlRun:
        """Raises UnknownRecord."""
        return existing(self._load(select(crawls).where(crawls.c.id == crawl_id)), _unknown(crawl_id))

    def history(self, site_id: str, limit: int = KEPT_CRAWLS) -> list[CrawlRun]:
        """Crawls of a site, the newest first."""
        return self.runs(site_id, WHOLE, limit)

    def runs(self, site_id: str, kind: str = "", limit: int = KEPT_CRAWLS, offset: int = 0) -> list[CrawlRun]:
        """Runs of a site, of one kind or all, the newest first."""
        found = select(crawls).where(crawls.c.site_id == site_id)
        if kind:
            found = found.where(crawls.c.kind == kind)
        return self._load(found.order_by(crawls.c.id.desc()).limit(limit).offset(offset))

    def latest_of_page(self, site_id: str, url: str) -> CrawlRun | None:
        """The newest run about this page alone."""
        of_page = select(crawls).where(
            crawls.c.site_id == site_id, crawls.c.url == url, crawls.c.kind != WHOLE
        )
        return next(iter(self._load(of_page.order_by(crawls.c.id.desc()).limit(1))), None)

    def waiting(self) -> list[CrawlRun]:
        """Waiting crawls of sites without a running crawl, the oldest first."""
        busy = select(crawls.c.site_id).where(crawls.c.state == RUNNING)
        free = select(crawls).where(crawls.c.state == WAITING, crawls.c.site_id.not_in(busy))
        return self._load(free.order_by(crawls.c.id))

    def count(self, state: str) -> int:
        """How many crawls of all sites are in this state."""
        return int(self._scalar(select(func.count()).where(crawls.c.state == state)))

    def interrupted(self) -> list[CrawlRun]:
        """Running crawls whose process is gone, the oldest first."""
        under_way = select(crawls).where(crawls.c.state == RUNNING).order_by(crawls.c.id)
        return [_run(row, {}) for row in self._rows(under_way) if is_left(row)]

    def is_left(self, run: CrawlRun) -> bool:
        """Whether a crawl is stored as running but its process is gone."""
        return run.state == RUNNING and any(run.id == left.id for left in self.interrupted())

    def _shift(self, run: CrawlRun, **values: Any) -> bool:
        same = (crawls.c.id == run.id, crawls.c.state == run.state, crawls.c.holder == run.holder)
        return self._write(update(crawls).where(*same).values(**values)) == 1

    def _load(self, wanted: AnySelect) -> list[CrawlRun]:
        rows = self._rows(wanted)
        # Of a crawl that ended the counts were stored: it may have had very many addresses.
        live = self.addresses.counts([row.id for row in rows if row.counts is None or row.state in OPEN])
        return [_run(row, live.get(row.id, row.counts)) for row in rows]


_IDLE: dict[str, Any] = {"wanted": "", "holder": "", "rate": 0.0, "remaining_s": None}


def _forget_old(connection: Connection, site_id: str, kind: str, most: int) -> None:
    whole = kind == WHOLE
    same = (crawls.c.site_id == site_id, (crawls.c.kind == WHOLE) if whole else (crawls.c.kind != WHOLE))
    newest = select(crawls.c.id).where(*same).order_by(crawls.c.id.desc())
    kept = newest.limit(most if whole else most * KEPT_PAGES)
    # Of single pages many may wait: what was asked for is not forgotten.
    connection.execute(delete(crawls).where(*same, crawls.c.id.not_in(kept), crawls.c.state != WAITING))


def _run(row: AnyRow, counts: dict[str, int]) -> CrawlRun:
    values = {name: row._mapping[name] for name in CrawlRun.__dataclass_fields__}
    return CrawlRun(**{**values, "counts": counts})


def _unknown(crawl_id: int) -> UnknownRecord:
    return UnknownRecord(f"there is no crawl {crawl_id}: its site was deleted, or it is one of the old ones")


@dataclass(frozen=True, slots=True)
class SiteSchedule:
    """How often a site is crawled, and when next."""

    site_id: str
    every: str
    """One of `server.domain.site.PERIODS`."""
    next_at: datetime


class ScheduleStore(Store):
    """Schedules by site; a site without one is crawled on demand only."""

    def get(self, site_id: str) -> SiteSchedule | None:
        """The schedule of a site."""
        row = self._row(select(schedules).where(schedules.c.site_id == site_id))
        return None if row is None else SiteSchedule(*row)

    def set(self, site_id: str, every: str, next_at: datetime) -> None:
        """Set the schedule of a site. Raises UnknownSite."""
        row = {"site_id": site_id, "every": every, "next_at": next_at}
        with raising(UnknownSite(f"there is no site {site_id!r} to crawl on a schedule")):
            self._put(schedules, row)

    def clear(self, site_id: str) -> None:
        """Delete the schedule of a site. A site without one is no error."""
        self._write(delete(schedules).where(schedules.c.site_id == site_id))

    def due(self, moment: datetime) -> list[SiteSchedule]:
        """Schedules that are due."""
        rows = self._rows(select(schedules).where(schedules.c.next_at <= moment))
        return [SiteSchedule(*row) for row in rows]

    def claim(self, due: SiteSchedule, next_at: datetime) -> bool:
        """Move a schedule to its next time; true for only one of the workers that try."""
        same = [column == value for column, value in zip(schedules.c, astuple(due), strict=True)]
        return self._write(update(schedules).where(*same).values(next_at=next_at)) == 1
