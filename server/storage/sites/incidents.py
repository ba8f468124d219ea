"""Problems during which visitors were still served."""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from server.storage.columns import now
from server.storage.schema.sites import incidents
from server.storage.statements import lock
from server.storage.store import Store, columns_of

log = logging.getLogger(__name__)

COUNTED_TOGETHER = timedelta(hours=1)
KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Incident:
    """A problem that occurred once, or `count` times within an hour."""

    id: int
    site_id: str
    at: datetime
    """Time of the last occurrence."""
    kind: str
    message: str
    details: dict[str, Any]
    """Details of the last occurrence."""
    count: int


class IncidentStore(Store):
    """Implements server.domain.protocols.Incidents."""

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Count a problem in the row of the same kind and message within the hour, or add a row. Never
        raises."""
        row = {"site_id": site_id, "kind": kind, "message": message, "details": dict(details or {})}
        try:
            with self._db.begin() as connection:
                self._count(connection, row)
        except Exception:  # a lost incident must not cost an answer, whatever the reason
            log.exception("the incident %r of site %r was not stored: %s", kind, site_id, message)

    def recent(
        self,
        site_ids: Collection[str] | None = None,
        limit: int = 50,
        since: datetime | None = None,
        kind: str = "",
    ) -> list[Incident]:
        """Incidents, newest first, of these sites or all, of one kind or any, since then or ever."""
        columns = columns_of(Incident, incidents)
        newest_first = select(*columns).order_by(incidents.c.at.desc(), incidents.c.id.desc()).limit(limit)
        if kind:
            newest_first = newest_first.where(incidents.c.kind == kind)
        return [Incident(*row) for row in self._rows(newest_first.where(*_of(site_ids, since)))]

    def kinds(
        self,
        site_ids: Collection[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> dict[str, int]:
        """Kind -> number of occurrences, of these sites or all, in the rows updated in that time."""
        counted = select(incidents.c.kind, func.sum(incidents.c.count)).group_by(incidents.c.kind)
        if until is not None:
            counted = counted.where(incidents.c.at < until)
        return {kind: int(times) for kind, times in self._rows(counted.where(*_of(site_ids, since)))}

    def _count(self, connection: Connection, row: dict[str, Any]) -> None:
        at = now()
        # Two at the same moment would both find no row to count in.
        lock(connection, crc32(f"{row['site_id']}/{row['kind']}".encode("utf-8", "replace")))
        same = (
            *(incidents.c[name] == row[name] for name in ("site_id", "kind", "message")),
            incidents.c.first_at > at - COUNTED_TOGETHER,
        )
        again = update(incidents).where(*same)
        counted = connection.execute(again.values(count=incidents.c.count + 1, at=at, details=row["details"]))
        if not counted.rowcount:
            connection.execute(insert(incidents).values(**row, count=1, first_at=at, at=at))
            old = (incidents.c.site_id == row["site_id"], incidents.c.at < at - KEPT)
            connection.execute(delete(incidents).where(*old))


def _of(site_ids: Collection[str] | None, since: datetime | None) -> Iterator[ColumnElement[bool]]:
    if site_ids is not None:
        yield incidents.c.site_id.in_(site_ids)
    if since is not None:
        yield incidents.c.at >= since
