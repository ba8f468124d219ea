"""Who changed what on the dashboard, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from server.storage.columns import now
from server.storage.database import Database
from server.storage.tables import of_people

audit = of_people.audit


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the audit log."""

    id: int
    at: datetime
    operator: str
    """E-mail address, as it was then."""
    site_id: str
    """Empty when it concerns no one site."""
    action: str
    """What was done, as a past participle with its object: "removed the site"."""
    details: dict[str, Any]


class AuditLog:
    """Entries are added and never changed."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self, operator: str, action: str, site_id: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """Stores one change, of now."""
        row = {"operator": operator, "site_id": site_id, "action": action, "details": details or {}}
        with self._db.begin() as connection:
            connection.execute(insert(audit).values(at=now(), **row))

    def recent(self, limit: int, offset: int = 0, *, site_id: str = "", operator: str = "") -> list[Change]:
        """The newest first; of one site, of one operator, or all."""
        wanted = select(audit).order_by(audit.c.at.desc(), audit.c.id.desc())
        if site_id:
            wanted = wanted.where(audit.c.site_id == site_id)
        if operator:
            wanted = wanted.where(audit.c.operator == operator)
        with self._db.connect() as connection:
            return [Change(**row._mapping) for row in connection.execute(wanted.limit(limit).offset(offset))]
