"""The state of each address of a crawl, and what two crawls found differently."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select, union_all, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.schema.sites import crawl_urls
from server.storage.statements import AnySelect, among
from server.storage.store import Store, columns_of

BATCH = 2000
EXCLUDED = "excluded"
ANYTHING = "…"
MOST_REASONS = 30
_ADDRESS = re.compile(r"https?://\S+?(?=,? |\.?$)")
KEPT_OUT = "an operator keeps it out of the answers"
"""Reason of pages that were read and are not indexed."""


@dataclass(frozen=True, slots=True)
class UrlRow:
    """The result of one address in one crawl."""

    url: str
    state: str
    reason: str = ""
    status: int = 0
    """HTTP status; 0 when there was no answer."""
    at: datetime = field(default_factory=now)
    found_on: str = ""
    """The page that links to it."""
    depth: int = 0
    """Clicks from a start address."""


_ROW = columns_of(UrlRow, crawl_urls)


class CrawlAddresses(Store):
    """Addresses of crawls by crawl number."""

    def urls(
        self,
        crawl_id: int,
        state: str | None = None,
        search: str = "",
        limit: int = 100,
        offset: int = 0,
        *,
        reason: str = "",
    ) -> list[UrlRow]:
        """Addresses of a crawl, sorted; with `search`, the ones that contain it in address or reason; with
        `reason`, the ones with that reason, as returned by `reasons`."""
        # The page of addresses comes from an index alone, however far down it lies; then its rows are read.
        page = select(crawl_urls.c.url).where(*_wanted(crawl_id, state, search, reason))
        page = page.order_by(crawl_urls.c.url).limit(limit).offset(offset)
        urls = [row.url for row in self._rows(page)]
        rows = select(*_ROW).where(
            crawl_urls.c.crawl_id == crawl_id, among(self._db.dialect, crawl_urls.c.url, "urls")
        )
        found = {row.url: UrlRow(*row) for row in self._rows(rows, {"urls": urls})}
        return [found[url] for url in urls if url in found]

    def every_url(
        self, crawl_id: int, state: str | None = None, search: str = "", *, reason: str = ""
    ) -> Iterator[UrlRow]:
        """All rows of the same list, one batch in memory at a time."""
        rows = select(*_ROW).where(*_wanted(crawl_id, state, search, reason))
        return (UrlRow(*row) for row in self._batches(rows, crawl_urls.c.url, BATCH))

    def reasons(self, crawl_id: int, state: str | None = None) -> list[tuple[str, int]]:
        """(reason, number of addresses), the most frequent first; ANYTHING replaces addresses within a
        reason."""
        of_crawl = [crawl_urls.c.crawl_id == crawl_id, crawl_urls.c.reason != ""]
        if state is not None:
            of_crawl.append(crawl_urls.c.state == state)
        counted = select(crawl_urls.c.reason, func.count()).where(*of_crawl).group_by(crawl_urls.c.reason)
        found: Counter[str] = Counter()
        for reason, count in self._rows(counted):
            found[_ADDRESS.sub(ANYTHING, reason)] += count
        return found.most_common(MOST_REASONS)

    def newest(self, crawl_id: int, states: Collection[str], limit: int) -> list[UrlRow]:
        """The newest addresses in these states, newest first."""
        rows = select(*_ROW).where(crawl_urls.c.crawl_id == crawl_id, crawl_urls.c.state.in_(sorted(states)))
        return [UrlRow(*row) for row in self._rows(rows.order_by(crawl_urls.c.at.desc()).limit(limit))]

    def keep_out(self, crawl_id: int, urls: Collection[str]) -> None:
        """Mark these pages as excluded by an operator."""
        if not urls:
            return
        kept = (crawl_urls.c.crawl_id == crawl_id, among(self._db.dialect, crawl_urls.c.url, "urls"))
        noted = update(crawl_urls).where(*kept).values(state=EXCLUDED, reason=KEPT_OUT)
        self._write(noted, {"urls": list(urls)})

    def at_start(self, crawl_id: int) -> list[UrlRow]:
        """The addresses that a crawl began with, and where redirects led it from there."""
        rows = select(*_ROW).where(crawl_urls.c.crawl_id == crawl_id, crawl_urls.c.depth == 0)
        return [UrlRow(*row) for row in self._rows(rows.order_by(crawl_urls.c.hops))]

    def fingerprints(self, crawl_id: int) -> Iterator[tuple[str, int]]:
        """(address, fingerprint of its page) of the addresses that have one, a batch in memory at a time."""
        rows = select(crawl_urls.c.url, crawl_urls.c.fingerprint).where(
            crawl_urls.c.crawl_id == crawl_id, crawl_urls.c.fingerprint != 0
        )
        return ((row[0], row[1]) for row in self._batches(rows, crawl_urls.c.url, BATCH))

    def ends(self, crawl_id: int, states: Collection[str]) -> Iterator[tuple[str, str, str]]:
        """(address, state, content hash) of the addresses in these states, sorted by address, a batch in
        memory at a time."""
        rows = select(crawl_urls.c.url, crawl_urls.c.state, crawl_urls.c.content_hash).where(
            crawl_urls.c.crawl_id == crawl_id, crawl_urls.c.state.in_(sorted(states))
        )
        return ((row[0], row[1], row[2]) for row in self._batches(rows, crawl_urls.c.url, BATCH))

    def linked(self, crawl_id: int, states: Collection[str]) -> Iterator[tuple[str, str]]:
        """(address, the page that it was found on) of the addresses in these states, without those that no
        page led to, a batch in memory at a time."""
        rows = select(crawl_urls.c.url, crawl_urls.c.found_on).where(
            crawl_urls.c.crawl_id == crawl_id,
            crawl_urls.c.state.in_(sorted(states)),
            crawl_urls.c.found_on != "",
        )
        return ((row[0], row[1]) for row in self._batches(rows, crawl_urls.c.url, BATCH))

    def counts(self, crawl_ids: Collection[int]) -> dict[int, dict[str, int]]:
        """Crawl -> state -> how many addresses are in it."""
        counted = (
            select(crawl_urls.c.crawl_id, crawl_urls.c.state, func.count())
            .where(among(self._db.dialect, crawl_urls.c.crawl_id, "ids"))
            .group_by(crawl_urls.c.crawl_id, crawl_urls.c.state)
        )
        counts: dict[int, dict[str, int]] = {crawl_id: {} for crawl_id in crawl_ids}
        for crawl_id, state, number in self._rows(counted, {"ids": list(counts)}) if counts else ():
            counts[crawl_id][state] = number
        return counts


def _wanted(crawl_id: int, state: str | None, search: str, reason: str = "") -> list[ColumnElement[bool]]:
    wanted = [crawl_urls.c.crawl_id == crawl_id]
    if state is not None:
        wanted.append(crawl_urls.c.state == state)
    if search:
        texts = (crawl_urls.c.url, crawl_urls.c.reason)
        wanted.append(or_(*(text.icontains(search, autoescape=True) for text in texts)))
    if reason:
        pattern = re.sub(r"([\\%_])", r"\\\1", reason).replace(ANYTHING, "%")
        wanted.append(crawl_urls.c.reason.like(pattern, escape="\\"))
    return [and_(*wanted)]


ADDED, MISSING, CHANGED, STATE = "added", "missing", "changed", "state"
DIFFERENCES = (ADDED, MISSING, CHANGED, STATE)
_READ = ("fetched", "unchanged")
"""Both states mean that the page was read."""
_BEFORE, _NOW = crawl_urls.alias("before"), crawl_urls.alias("now")
_ENDED_OTHERWISE = and_(
    _BEFORE.c.state != _NOW.c.state, ~and_(_BEFORE.c.state.in_(_READ), _NOW.c.state.in_(_READ))
)
# The hashes differ; a page that the server reported as unchanged has none.
_SAYS_OTHERWISE = and_(
    ~_ENDED_OTHERWISE,
    or_(
        and_(
            _BEFORE.c.content_hash != "",
            _NOW.c.content_hash != "",
            _BEFORE.c.content_hash != _NOW.c.content_hash,
        ),
        and_(_BEFORE.c.content_hash == "", _BEFORE.c.state == "unchanged", _NOW.c.state == "fetched"),
    ),
)


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
        same_address = and_(_BEFORE.c.url == _NOW.c.url, _BEFORE.c.crawl_id == self._earlier)
        joined = select(
            func.count(), func.count().filter(_ENDED_OTHERWISE), func.count().filter(_SAYS_OTHERWISE)
        ).select_from(_NOW.join(_BEFORE, same_address))
        [(both, state, changed)] = self._rows(joined.where(_NOW.c.crawl_id == self._later))
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

    def _here(self, kind: str, search: str) -> AnySelect:
        """Addresses of the later crawl with a difference of this kind, or of any."""
        new = _BEFORE.c.url.is_(None)
        kinds = {ADDED: new, STATE: _ENDED_OTHERWISE, CHANGED: _SAYS_OTHERWISE}
        was = and_(_BEFORE.c.crawl_id == self._earlier, _BEFORE.c.url == _NOW.c.url)
        kind_of = case((new, ADDED), (_ENDED_OTHERWISE, STATE), else_=CHANGED)
        return (
            select(
                *(_NOW.c.url.label("url"), kind_of.label("kind"), func.coalesce(_BEFORE.c.state, "")),
                *(func.coalesce(_BEFORE.c.reason, ""), _NOW.c.state, _NOW.c.reason),
            )
            .select_from(_NOW.outerjoin(_BEFORE, was))
            .where(_NOW.c.crawl_id == self._later, kinds.get(kind, or_(*kinds.values())))
            .where(*_searched(_NOW, search))
        )

    def _gone(self, search: str) -> AnySelect:
        """Addresses that the later crawl did not find."""
        is_there = and_(_NOW.c.crawl_id == self._later, _BEFORE.c.url == _NOW.c.url)
        return (
            select(
                *(_BEFORE.c.url.label("url"), literal(MISSING).label("kind"), _BEFORE.c.state),
                *(_BEFORE.c.reason, literal(""), literal("")),
            )
            .select_from(_BEFORE.outerjoin(_NOW, is_there))
            .where(_BEFORE.c.crawl_id == self._earlier, _NOW.c.url.is_(None), *_searched(_BEFORE, search))
        )


def _searched(table: Any, search: str) -> Iterator[ColumnElement[bool]]:
    if search:
        yield table.c.url.icontains(search, autoescape=True)
