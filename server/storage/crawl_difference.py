"""What two crawls of a site found differently, told by the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select, union_all

from server.storage.database import Database
from server.storage.live_content import literal_pattern
from server.storage.statements import AnySelect
from server.storage.tables import crawl_urls

ADDED, MISSING, CHANGED, STATE = "added", "missing", "changed", "state"
DIFFERENCES = (ADDED, MISSING, CHANGED, STATE)
BATCH = 2000
_READ = ("fetched", "unchanged")
"""One state for a page that was read: whether it was new then says the other crawl."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One address that the two crawls tell differently."""

    url: str
    kind: str
    """One of DIFFERENCES: found by the later crawl alone, by the earlier one alone, with another text, or
    ended in another way."""
    before: str = ""
    """State in the earlier crawl; empty when it did not find it."""
    before_reason: str = ""
    now: str = ""
    """State in the later crawl."""
    now_reason: str = ""


class CrawlDifference:
    """Of an earlier and a later crawl, by their numbers."""

    def __init__(self, db: Database, earlier: int, later: int) -> None:
        self._db = db
        self._earlier = earlier
        self._later = later

    def counts(self) -> dict[str, int]:
        """How many addresses differ in which way; every kind is a key."""
        before, now = self._both()
        otherwise = _ended_otherwise(before, now)
        same_address = and_(before.c.url == now.c.url, before.c.crawl_id == self._earlier)
        joined = select(
            func.count(),
            func.count().filter(otherwise),
            func.count().filter(and_(~otherwise, _says_otherwise(before, now))),
        ).select_from(now.join(before, same_address))
        with self._db.connect() as connection:
            both, state, changed = connection.execute(joined.where(now.c.crawl_id == self._later)).one()
            sizes = [
                connection.execute(
                    select(func.count()).select_from(crawl_urls).where(crawl_urls.c.crawl_id == crawl_id)
                ).scalar_one()
                for crawl_id in (self._earlier, self._later)
            ]
        return {ADDED: sizes[1] - both, MISSING: sizes[0] - both, CHANGED: changed, STATE: state}

    def rows(self, kind: str = "", search: str = "", limit: int = 100, offset: int = 0) -> list[Difference]:
        """Sorted by address; those of one kind, and those whose address contains `search`."""
        if kind == MISSING:
            found: Any = self._gone(search).order_by("url")
        elif kind in DIFFERENCES:
            found = self._here(kind, search).order_by("url")
        else:
            # Ordered as it is: both parts come in the order of the key, and few are read of a long list.
            found = union_all(self._here("", search), self._gone(search)).order_by("url")
        with self._db.connect() as connection:
            return [Difference(*row) for row in connection.execute(found.limit(limit).offset(offset))]

    def every(self, kind: str = "", search: str = "") -> Iterator[Difference]:
        """The same, all of them, a batch in memory at a time."""
        offset = 0
        while rows := self.rows(kind, search, BATCH, offset):
            yield from rows
            if len(rows) < BATCH:
                return
            offset += len(rows)

    def _both(self) -> tuple[Any, Any]:
        return crawl_urls.alias("before"), crawl_urls.alias("now")

    def _here(self, kind: str, search: str) -> AnySelect:
        """Addresses of the later crawl that differ, in one way or in any."""
        before, now = self._both()
        new, otherwise = before.c.url.is_(None), _ended_otherwise(before, now)
        says = and_(~otherwise, _says_otherwise(before, now))
        differ = {ADDED: new, STATE: otherwise, CHANGED: says}.get(kind, or_(new, otherwise, says))
        was = and_(before.c.crawl_id == self._earlier, before.c.url == now.c.url)
        told = case((new, ADDED), (otherwise, STATE), else_=CHANGED)
        return (
            select(
                *(now.c.url.label("url"), told.label("kind"), func.coalesce(before.c.state, "")),
                *(func.coalesce(before.c.reason, ""), now.c.state, now.c.reason),
            )
            .select_from(now.outerjoin(before, was))
            .where(now.c.crawl_id == self._later, differ, *_searched(now, search))
        )

    def _gone(self, search: str) -> AnySelect:
        """Addresses that the later crawl did not find."""
        before, now = self._both()
        is_there = and_(now.c.crawl_id == self._later, before.c.url == now.c.url)
        return (
            select(
                *(before.c.url.label("url"), literal(MISSING).label("kind"), before.c.state),
                *(before.c.reason, literal(""), literal("")),
            )
            .select_from(before.outerjoin(now, is_there))
            .where(before.c.crawl_id == self._earlier, now.c.url.is_(None), *_searched(before, search))
        )


def _searched(table: Any, search: str) -> Iterator[ColumnElement[bool]]:
    if search:
        yield func.lower(table.c.url).contains(literal_pattern(search.lower()), escape="\\")


def _ended_otherwise(before: Any, now: Any) -> ColumnElement[bool]:
    both_read = and_(before.c.state.in_(_READ), now.c.state.in_(_READ))
    return and_(before.c.state != now.c.state, ~both_read)


def _says_otherwise(before: Any, now: Any) -> ColumnElement[bool]:
    """By the hashes; where a server only said that nothing had changed, there is none."""
    known = and_(before.c.content_hash != "", now.c.content_hash != "")
    return or_(
        and_(known, before.c.content_hash != now.c.content_hash),
        and_(before.c.content_hash == "", before.c.state == "unchanged", now.c.state == "fetched"),
    )
