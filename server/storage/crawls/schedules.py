"""When each site is crawled again automatically."""

from dataclasses import astuple, dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.errors import UnknownSite
from server.storage.schema.crawls import schedules
from server.storage.statements import upsert
from server.storage.store import Store


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

    def all(self) -> dict[str, SiteSchedule]:
        """Site -> schedule."""
        return {row.site_id: SiteSchedule(*row) for row in self._rows(select(schedules))}

    def set(self, site_id: str, every: str, next_at: datetime) -> None:
        """Set the schedule of a site. Raises UnknownSite."""
        row = {"site_id": site_id, "every": every, "next_at": next_at}
        try:
            self._write(upsert(self._db.dialect, schedules, key=("site_id",)), row)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {site_id!r} to crawl on a schedule") from error

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
