"""Differences between two crawls of a site, computed by the database."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select, union_all

from server.storage.content.reader import literal_pattern
from server.storage.database import Database
from server.storage.schema.crawls import crawl_urls
from server.storage.statements import AnySelect
from server.storage.store import Store

ADDED, MISSING, CHANGED, STATE = "added", "missing", "changed", "state"
DIFFERENCES = (ADDED, MISSING, CHANGED, STATE)
BATCH = 2000
_READ = ("fetched", "unchanged")
"""Both states mean that the page was read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One address with different results in the two crawls."""

    url: str
    kind: str
    """One of DIFFERENCES: only in the later crawl, only in the earlier one, with another text, or in another
    state."""
    before: str = ""
    """State in the earlier crawl; empty when it did not find it."""
    before_reason: str = ""
    now: str = ""
    """State in the later crawl."""
    now_reason: str = ""


class CrawlDifference(Store):
    """Differences between an earlier and a later crawl, by their numbers."""

    def __init__(self, db: Database, earlier: int, later: int) -> None:
        super().__init__(db)
        self._earlier = earlier
        self._later = later

    def counts(self) -> dict[str, int]:
        """Kind of difference -> number of addresses; every kind is a key."""
        before, now = self._both()
        otherwise = _ended_otherwise(before, now)
        same_address = and_(before.c.url == now.c.url, before.c.crawl_id == self._earlier)
        joined = select(
            func.count(),
            func.count().filter(otherwise),
            func.count().filter(and_(~otherwise, _says_otherwise(before, now))),
        ).select_from(now.join(before, same_address))
        [(both, state, changed)] = self._rows(joined.where(now.c.crawl_id == self._later))
        sizes = [
            self._scalar(
                select(func.count()).select_from(crawl_urls).where(crawl_urls.c.crawl_id == crawl_id)
            )
            for crawl_id in (self._earlier, self._later)
        ]
        return {ADDED: sizes[1] - both, MISSING: sizes[0] - both, CHANGED: changed, STATE: state}

    def rows(self, kind: str = "", search: str = "", limit: int = 100, offset: int = 0) -> list[Difference]:
        """Differences sorted by address, of one kind or all; with `search`, the addresses that contain it."""
        if kind == MISSING:
            found: Any = self._gone(search).order_by("url")
        elif kind in DIFFERENCES:
            found = self._here(kind, search).order_by("url")
        else:
            # Ordered as it is: both parts come in the order of the key, and few are read of a long list.
            found = union_all(self._here("", search), self._gone(search)).order_by("url")
        return [Difference(*row) for row in self._rows(found.limit(limit).offset(offset))]

    def every(self, kind: str = "", search: str = "") -> Iterator[Difference]:
        """All rows of the same list, one batch in memory at a time."""
        offset = 0
        while rows := self.rows(kind, search, BATCH, offset):
            yield from rows
            if len(rows) < BATCH:
                return
            offset += len(rows)

    def _both(self) -> tuple[Any, Any]:
        return crawl_urls.alias("before"), crawl_urls.alias("now")

    def _here(self, kind: str, search: str) -> AnySelect:
        """Addresses of the later crawl with a difference of this kind, or of any."""
        before, now = self._both()
        new, otherwise = before.c.url.is_(None), _ended_otherwise(before, now)
        says = and_(~otherwise, _says_otherwise(before, now))
        differ = {ADDED: new, STATE: otherwise, CHANGED: says}.get(kind, or_(new, otherwise, says))
        was = and_(before.c.crawl_id == self._earlier, before.c.url == now.c.url)
        kind_of = case((new, ADDED), (otherwise, STATE), else_=CHANGED)
        return (
            select(
                *(now.c.url.label("url"), kind_of.label("kind"), func.coalesce(before.c.state, "")),
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
    """Whether the hashes differ; a page that the server reported as unchanged has none."""
    known = and_(before.c.content_hash != "", now.c.content_hash != "")
    return or_(
        and_(known, before.c.content_hash != now.c.content_hash),
        and_(before.c.content_hash == "", before.c.state == "unchanged", now.c.state == "fetched"),
    )
