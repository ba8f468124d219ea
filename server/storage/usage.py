"""What models took for each site, day by day."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta

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

    def today_by_site(self) -> dict[str, Used]:
        """Of this day (UTC), of every site that took something."""
        sums = [func.coalesce(func.sum(usage.c[name]), 0) for name in _COUNTS]
        wanted = select(usage.c.site_id, *sums).where(usage.c.day == _day()).group_by(usage.c.site_id)
        with self._db.connect() as connection:
            rows = connection.execute(wanted).all()
        return {row[0]: Used(int(row[1]), int(row[2]), int(row[3]), float(row[4])) for row in rows}

    def last_days(self, site_id: str, days: int) -> Used:
        """Of today and the days before it, `days` in all."""
        return self._sum(site_id, _day(days - 1))

    def by_model(self, site_ids: Collection[str], first: date, last: date) -> dict[str, Used]:
        """What each model took for these sites from one day (UTC) to another, both included."""
        sums = [func.sum(usage.c[name]) for name in _COUNTS]
        held = (usage.c.site_id.in_(site_ids), usage.c.day.between(first.isoformat(), last.isoformat()))
        wanted = select(usage.c.model, *sums).where(*held).group_by(usage.c.model).order_by(usage.c.model)
        with self._db.connect() as connection:
            rows = connection.execute(wanted)
            return {
                model: Used(int(calls), int(tokens_in), int(tokens_out), float(cost))
                for model, calls, tokens_in, tokens_out, cost in rows
            }

    def _sum(self, site_id: str, since: str) -> Used:
        sums = [func.coalesce(func.sum(usage.c[name]), 0) for name in _COUNTS]
        wanted = select(*sums).where(usage.c.site_id == site_id, usage.c.day >= since)
        with self._db.connect() as connection:
            calls, tokens_in, tokens_out, cost = connection.execute(wanted).one()
        return Used(int(calls), int(tokens_in), int(tokens_out), float(cost))


def _day(before: int = 0) -> str:
    return (datetime.now(UTC) - timedelta(days=before)).date().isoformat()
