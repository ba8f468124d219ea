"""What models took for each site, day by day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from server.domain.spending import Used
from server.storage.database import Database
from server.storage.statements import upsert
from server.storage.tables import of_answers

usage = of_answers.usage
_COUNTS = ("calls", "tokens_in", "tokens_out", "cost")


class UsageStore:
    """Implements UsageLog, in the database: all processes and machines see the same."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, site_id: str, model: str, used: Used) -> None:
        """Adds to today's counts. What is used for a site that was just removed counts for nothing."""
        counts = {name: getattr(used, name) for name in _COUNTS}
        key = {"site_id": site_id, "day": _day(), "model": model}
        statement = upsert(self._db.dialect, usage, tuple(key))
        added = {name: usage.c[name] + statement.excluded[name] for name in _COUNTS}
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, usage, tuple(key), added), {**key, **counts})
        except IntegrityError:
            return

    def today(self, site_id: str) -> Used:
        """Of this day (UTC)."""
        return self._sum(site_id, _day())

    def last_days(self, site_id: str, days: int) -> Used:
        """Of today and the days before it, `days` in all."""
        return self._sum(site_id, _day(days - 1))

    def _sum(self, site_id: str, since: str) -> Used:
        sums = [func.coalesce(func.sum(usage.c[name]), 0) for name in _COUNTS]
        wanted = select(*sums).where(usage.c.site_id == site_id, usage.c.day >= since)
        with self._db.connect() as connection:
            calls, tokens_in, tokens_out, cost = connection.execute(wanted).one()
        return Used(int(calls), int(tokens_in), int(tokens_out), float(cost))


def _day(before: int = 0) -> str:
    return (datetime.now(UTC) - timedelta(days=before)).date().isoformat()
