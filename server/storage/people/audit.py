"""Who changed what on the dashboard, and when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, insert, select

from server.storage.columns import now
from server.storage.schema.people import audit
from server.storage.statements import AnySelect
from server.storage.store import Store

BATCH = 1000
CHOICES = 200


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the audit log."""

    id: int
    at: datetime
    operator: str
    """E-mail address, as it was then."""
    site_id: str
    """Empty if it does not concern one site."""
    action: str
    """The action as a past participle with its object: "removed the site"."""
    details: dict[str, Any]


class AuditLog(Store):
    """Entries are added and never changed."""

    def add(
        self, operator: str, action: str, site_id: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """Store a change made now."""
        row = {"operator": operator, "site_id": site_id, "action": action, "details": details or {}}
        self._write(insert(audit).values(at=now(), **row))

    def recent(
        self,
        limit: int,
        offset: int = 0,
        *,
        site_id: str = "",
        operator: str = "",
        action: str = "",
        since: datetime | None = None,
    ) -> list[Change]:
        """Entries, newest first; of one site, one operator, one action, since then, or all."""
        wanted = _wanted(site_id, operator, action, since).limit(limit).offset(offset)
        return [Change(**row._mapping) for row in self._rows(wanted)]

    def every(
        self, *, site_id: str = "", operator: str = "", action: str = "", since: datetime | None = None
    ) -> Iterator[Change]:
        """All entries of the same list, newest first, read in batches."""
        wanted, before = _wanted(site_id, operator, action, since), None
        while True:
            batch = wanted if before is None else wanted.where(audit.c.id < before)
            rows = self._rows(batch.limit(BATCH))
            yield from (Change(**row._mapping) for row in rows)
            if len(rows) < BATCH:
                return
            before = rows[-1].id

    def choices(self) -> tuple[list[str], list[str]]:
        """(who changed anything, what was done), for the filters."""
        return self._distinct(audit.c.operator), self._distinct(audit.c.action)

    def _distinct(self, column: Column[str]) -> list[str]:
        rows = self._rows(select(column).distinct().order_by(column).limit(CHOICES))
        return [row[0] for row in rows]


def _wanted(site_id: str, operator: str, action: str, since: datetime | None) -> AnySelect:
    wanted = select(audit).order_by(audit.c.id.desc())
    for column, value in ((audit.c.site_id, site_id), (audit.c.operator, operator), (audit.c.action, action)):
        if value:
            wanted = wanted.where(column == value)
    return wanted.where(audit.c.at >= since) if since else wanted
