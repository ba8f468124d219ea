"""When each site is crawled again automatically."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.schema.crawls import schedules
from server.storage.statements import upsert


@dataclass(frozen=True, slots=True)
class SiteSchedule:
    """How often a site is crawled, and when next."""

    site_id: str
    every: str
    """One of `server.domain.site.PERIODS`."""
    next_at: datetime


class ScheduleStore:
    """Schedules by site; a site without one is crawled on demand only."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, site_id: str) -> SiteSchedule | None:
        """The schedule of a site."""
        with self._db.connect() as connection:
            row = connection.execute(select(schedules).where(schedules.c.site_id == site_id)).first()
        return None if row is None else SiteSchedule(*row)

    def all(self) -> dict[str, SiteSchedule]:
        """Site -> schedule."""
        with self._db.connect() as connection:
            return {row.site_id: SiteSchedule(*row) for row in connection.execute(select(schedules))}

    def set(self, site_id: str, every: str, next_at: datetime) -> None:
        """Set the schedule of a site. Raises UnknownSite."""
        row = {"site_id": site_id, "every": every, "next_at": next_at}
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, schedules, key=("site_id",)), row)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {site_id!r} to crawl on a schedule") from error

    def clear(self, site_id: str) -> None:
        """Delete the schedule of a site. A site without one is no error."""
        with self._db.begin() as connection:
            connection.execute(delete(schedules).where(schedules.c.site_id == site_id))

    def due(self, moment: datetime) -> list[SiteSchedule]:
        """Schedules that are due."""
        with self._db.connect() as connection:
            rows = connection.execute(select(schedules).where(schedules.c.next_at <= moment))
            return [SiteSchedule(*row) for row in rows]

    def claim(self, due: SiteSchedule, next_at: datetime) -> bool:
        """Move a schedule to its next time; true for only one of the workers that try."""
        same = (
            schedules.c.site_id == due.site_id,
            schedules.c.every == due.every,
            schedules.c.next_at == due.next_at,
        )
        with self._db.begin() as connection:
            return connection.execute(update(schedules).where(*same).values(next_at=next_at)).rowcount == 1
