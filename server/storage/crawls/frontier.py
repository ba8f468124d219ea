"""Addresses of a large crawl that several workers visit, and the pace that all workers keep with a host."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, null, or_, select, true, update

from crawler.discovery.frontier import Item
from crawler.fetching.fetcher import Validators
from server.storage.columns import now
from server.storage.database import Database
from server.storage.leases import LEASE_S
from server.storage.schema.sites import crawl_frontier, crawl_hosts, crawls
from server.storage.statements import among, insert_new
from server.storage.store import Store

MOST_BROUGHT = 500
"""Visits that wait for the worker that carries out the crawl; then the others wait for it."""
FORGET_S = 86_400.0
RUNNING = "running"
_rows = crawl_frontier.c
_ITEM = (_rows.url, _rows.depth, _rows.hops, _rows.found_on)
_IS_FREE = _rows.holder == ""
_IS_BROUGHT = and_(_rows.holder > "", _rows.visit.is_not(None))
_IS_LEASED = and_(_rows.holder > "", _rows.visit.is_(None))


def _is_lost() -> ColumnElement[bool]:
    return and_(_IS_LEASED, _rows.until < now())


class _CrawlAddresses(Store):
    """The addresses of one crawl."""

    def __init__(self, db: Database, crawl_id: int) -> None:
        super().__init__(db)
        self._crawl_id = crawl_id
        self._of_crawl = _rows.crawl_id == crawl_id

    def processes(self) -> int:
        """Return how many workers visit addresses of the crawl, with the one that carries it out."""
        at_work = (self._of_crawl, _IS_LEASED, _rows.until > now())
        return 1 + int(self._scalar(select(func.count(_rows.holder.distinct())).where(*at_work)))


class SharedFrontier(_CrawlAddresses):
    """Implements crawler.discovery.frontier.SharedFrontier, for the worker that carries out a crawl."""

    def __init__(self, db: Database, crawl_id: int, known: Mapping[str, Validators]) -> None:
        super().__init__(db, crawl_id)
        self._known = known

    def begin(self) -> set[str]:
        """Drop the addresses that no worker visits; return the others."""
        self._write(delete(crawl_frontier).where(self._of_crawl, or_(_IS_FREE, _is_lost())))
        return {row.url for row in self._rows(select(_rows.url).where(self._of_crawl))}

    def put(self, items: Sequence[Item]) -> None:
        """Offer addresses; those that are there stay as they are."""
        if items:
            self._write(insert_new(self._db.dialect, crawl_frontier), [self._row_of(item) for item in items])

    def take_back(self, most: int, *, leased: bool = False) -> list[Item]:
        """Remove and return addresses that no worker visits; with `leased`, any."""
        found: list[Item] = []
        kinds = (true(),) if leased else (_is_lost(), _IS_FREE)
        with self._db.begin() as connection:
            for of_kind in kinds:
                wanted = _first(select(*_ITEM).where(self._of_crawl, of_kind), most - len(found))
                found += [Item(*row) for row in connection.execute(wanted)]
            connection.execute(self._removal(), {"urls": [item.url for item in found]})
        return found

    def brought(self, most: int) -> list[tuple[Item, str]]:
        """Return visits that other workers made."""
        wanted = select(*_ITEM, _rows.visit).where(self._of_crawl, _IS_BROUGHT).limit(most)
        return [(Item(*row[:-1]), row.visit) for row in self._rows(wanted)]

    def recorded(self, urls: Sequence[str]) -> None:
        """Remove addresses whose visits are in the journal."""
        self._write(self._removal(), {"urls": list(urls)})

    def is_empty(self) -> bool:
        """Return whether no address is left."""
        return self._row(select(_rows.url).where(self._of_crawl).limit(1)) is None

    def clear(self) -> None:
        """Remove all: the crawl is over, or pauses."""
        self._write(delete(crawl_frontier).where(self._of_crawl))

    def _removal(self) -> Any:
        return delete(crawl_frontier).where(self._of_crawl, among(self._db.dialect, _rows.url, "urls"))

    def _row_of(self, item: Item) -> dict[str, Any]:
        known = self._known.get(item.url) or Validators()
        said = {"etag": known.etag, "last_modified": known.last_modified}
        return {**asdict(item), **said, "crawl_id": self._crawl_id, "holder": ""}


class LeasedUrls(_CrawlAddresses):
    """Implements crawler.helping.LeasedUrls."""

    def __init__(self, db: Database, crawl_id: int, holder: str) -> None:
        super().__init__(db, crawl_id)
        self._holder = holder
        self._mine = and_(self._of_crawl, _rows.holder == holder, _rows.visit.is_(None))

    def lease(self, most: int) -> list[tuple[Item, Validators]]:
        """Return addresses for this worker alone; none while the crawl rests or lags behind."""
        run = select(crawls.c.id).where(
            crawls.c.id == self._crawl_id, crawls.c.state == RUNNING, crawls.c.wanted == ""
        )
        brought = select(func.count()).select_from(crawl_frontier).where(self._of_crawl, _IS_BROUGHT)
        with self._db.begin() as connection:
            if connection.execute(run).first() is None:
                return []
            if connection.execute(brought).scalar_one() >= MOST_BROUGHT:
                return []
            rows: list[Any] = []
            for of_kind in (_is_lost(), _IS_FREE):
                wanted = select(*_ITEM, _rows.etag, _rows.last_modified).where(self._of_crawl, of_kind)
                rows += connection.execute(_first(wanted, most - len(rows))).all()
            taken = update(crawl_frontier).where(self._of_crawl, among(self._db.dialect, _rows.url, "urls"))
            leased = {"holder": self._holder, "until": _end()}
            connection.execute(taken.values(leased), {"urls": [row.url for row in rows]})
        return [(Item(*row[:4]), Validators(row.etag, row.last_modified)) for row in rows]

    def renew(self) -> None:
        """Keep the addresses that this worker has."""
        self._write(update(crawl_frontier).where(self._mine).values(until=_end()))

    def release(self) -> None:
        """Give back the addresses that this worker has not visited."""
        self._write(update(crawl_frontier).where(self._mine).values(holder="", until=null()))

    def bring(self, item: Item, visit: str) -> None:
        """Hand in a visit, unless the lease was lost meanwhile."""
        self._write(update(crawl_frontier).where(self._mine, _rows.url == item.url).values(visit=visit))


def offered(db: Database, is_ours: Callable[[str], bool]) -> tuple[int, str] | None:
    """Return a running crawl that wants help, and its site; none that this process carries out itself."""
    of_crawl = _rows.crawl_id == crawls.c.id
    brought = select(func.count()).select_from(crawl_frontier).where(of_crawl, _IS_BROUGHT).scalar_subquery()
    wanted = (
        select(crawls.c.id, crawls.c.site_id, crawls.c.holder)
        .where(crawls.c.state == RUNNING, crawls.c.wanted == "")
        .where(select(_rows.url).where(of_crawl, _IS_FREE).exists(), brought < MOST_BROUGHT // 2)
    )
    with db.connect() as connection:
        found = connection.execute(wanted.order_by(crawls.c.id)).all()
    return next(((row.id, row.site_id) for row in found if not is_ours(row.holder)), None)


def _first(wanted: Select[Any], most: int) -> Select[Any]:
    """The lowest depth first; what another worker is taking at this moment is passed over."""
    return wanted.order_by(_rows.depth).limit(max(0, most)).with_for_update(skip_locked=True)


def _end() -> Any:
    return now() + timedelta(seconds=LEASE_S)


class HostTurns(Store):
    """Implements crawler.fetching.pacer.HostTurns. The clocks of the machines must agree, as for leases."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._write(delete(crawl_hosts).where(crawl_hosts.c.next_at < time.time() - FORGET_S))

    def turn(self, host: str, delay_s: float) -> tuple[float, int]:
        """Return the seconds to wait and the number of overloads; at 0 seconds the turn is taken."""
        asked = select(crawl_hosts).where(crawl_hosts.c.host == host)
        while True:
            row, at = self._row(asked), time.time()
            if row is None:
                if not delay_s:
                    return 0.0, 0
                self._make(host)
                continue
            if row.next_at > at:
                return row.next_at - at, row.overloads
            taken = update(crawl_hosts).where(crawl_hosts.c.host == host, crawl_hosts.c.next_at <= at)
            if not delay_s or self._write(taken.values(next_at=at + delay_s)):
                return 0.0, row.overloads

    def hold(self, host: str, seconds: float, *, overloaded: bool = False) -> int:
        """Give no turn for so long; return the number of overloads."""
        until = time.time() + seconds
        latest = func.max if self._db.dialect == "sqlite" else func.greatest
        self._make(host)
        longer = {
            "next_at": latest(crawl_hosts.c.next_at, until),
            "overloads": crawl_hosts.c.overloads + int(overloaded),
        }
        held = update(crawl_hosts).where(crawl_hosts.c.host == host).values(longer)
        with self._db.begin() as connection:
            return int(connection.execute(held.returning(crawl_hosts.c.overloads)).scalar_one())

    def _make(self, host: str) -> None:
        row = {"host": host, "next_at": 0.0, "overloads": 0}
        self._write(insert_new(self._db.dialect, crawl_hosts), row)
