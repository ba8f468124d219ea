"""Sums per site and day: questions, outcomes, feedback, times and model usage.

Triggers maintain the sums, a few hundred rows. Counting 100,000 messages would take half a second.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, case, delete, func, select
from sqlalchemy.exc import IntegrityError

from server.domain.answer import Outcome
from server.domain.spending import DailyLimit, Used
from server.storage.schema.conversations import COUNTED, budgets, message_days, message_times, messages
from server.storage.schema.conversations import model_usage as usage
from server.storage.statements import adding
from server.storage.store import Store


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over some messages."""

    asked: int = 0
    opened: int = 0
    """Number of conversations that began with one of them."""
    answered: int = 0
    refused: int = 0
    clarify: int = 0
    curated: int = 0
    handoff: int = 0
    limited: int = 0
    up: int = 0
    down: int = 0
    cost: float = 0.0
    tokens: int = 0
    times: Mapping[int, int] = field(default_factory=dict)
    """Number of answers by step of TIMES_MS: they took at most that time, and more than the previous step."""

    def within(self, share: float) -> int | None:
        """Return the quantile `share` of the times, in milliseconds; None without answers."""
        wanted, seen = share * sum(self.times.values()), 0
        for step in sorted(self.times):
            seen += self.times[step]
            if self.times[step] and seen >= wanted:
                return step
        return None

    def slower(self, step: int) -> int:
        """Return the number of answers that took longer than a step."""
        return sum(count for took, count in self.times.items() if took > step)

    def __add__(self, other: Figures) -> Figures:
        times = dict(self.times)
        for step, count in other.times.items():
            times[step] = times.get(step, 0) + count
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTED}
        return Figures(**counts | {"cost": _rounded(counts["cost"])}, times=times)


assert {one.name for one in fields(Figures)} == {*COUNTED, "times"}, "each count has its column"


class FigureStore(Store):
    """Sums by day. Days are UTC days."""

    def by_day(self, site_ids: Collection[str], first: date, last: date) -> dict[str, Figures]:
        """Return these sites' sums by day (ISO), for days with questions, both ends included."""
        counts = (func.sum(message_days.c[name]).label(name) for name in COUNTED)
        sums = select(message_days.c.day, *counts).where(*_span(message_days, site_ids, first, last))
        counted = select(message_times.c.day, message_times.c.within_ms, func.sum(message_times.c.asked))
        counted = counted.where(*_span(message_times, site_ids, first, last))
        with self._db.connect() as connection:
            rows = connection.execute(sums.group_by(message_days.c.day)).all()
            steps = connection.execute(counted.group_by(message_times.c.day, message_times.c.within_ms)).all()
        times: dict[str, dict[int, int]] = {}
        for day, step, count in steps:
            times.setdefault(day, {})[step] = int(count)
        return {row.day: _figures(row._mapping, times.get(row.day, {})) for row in rows}

    def asked_since(self, site_id: str, since: datetime) -> int:
        """Return the number of a site's questions since then."""
        counted = select(func.count()).where(messages.c.site_id == site_id, messages.c.asked_at >= since)
        return int(self._scalar(counted))

    def busiest_day(self, site_id: str, first: date, last: date) -> int:
        """Return the number of questions on the site's busiest of these days."""
        most = select(func.max(message_days.c.asked)).where(*_span(message_days, [site_id], first, last))
        return int(self._scalar(most) or 0)

    def asked(self, site_ids: Collection[str], first: date, last: date) -> dict[str, int]:
        """Return the number of questions in these days by site, without sites that have none."""
        counted = select(message_days.c.site_id, func.sum(message_days.c.asked)).group_by(
            message_days.c.site_id
        )
        rows = self._rows(counted.where(*_span(message_days, site_ids, first, last)))
        return {site_id: int(asked) for site_id, asked in rows}

    def between(self, site_ids: Collection[str], since: datetime, until: datetime) -> Figures:
        """Return the sums from `since` until before `until`, counted message by message."""
        held = [messages.c.site_id.in_(site_ids), messages.c.asked_at >= since, messages.c.asked_at < until]
        one: dict[str, Any] = {outcome.value: messages.c.outcome == outcome.value for outcome in Outcome}
        one |= {"opened": messages.c.turn == 1, "up": messages.c.helpful.is_(True)}
        one["down"] = messages.c.helpful.is_(False)
        sums = [func.sum(case((is_it, 1), else_=0)).label(name) for name, is_it in one.items()]
        sums += [func.sum(messages.c[name]).label(name) for name in ("cost", "tokens")]
        wanted = select(func.count().label("asked"), *sums).where(*held)
        steps = select(messages.c.within_ms, func.count()).where(*held).group_by(messages.c.within_ms)
        with self._db.connect() as connection:
            row = connection.execute(wanted).one()
            return _figures(row._mapping, {step: count for step, count in connection.execute(steps)})


def _span(table: Any, site_ids: Collection[str], first: date, last: date) -> list[ColumnElement[bool]]:
    days = table.c.day.between(first.isoformat(), last.isoformat())
    return [table.c.site_id.in_(site_ids), days]


def _figures(row: RowMapping, times: Mapping[int, int]) -> Figures:
    counts = {name: int(row[name] or 0) for name in COUNTED if name != "cost"}
    return Figures(**counts, cost=max(0.0, _rounded(float(row["cost"] or 0))), times=times)


def _rounded(cost: float) -> float:
    """Without what adding and subtracting leaves, which is smaller than any price."""
    return round(cost, 9)


_COUNTS = ("calls", "tokens_in", "tokens_out", "cost")
_SUMS = [func.coalesce(func.sum(usage.c[name]), 0) for name in _COUNTS]


class UsageStore(Store):
    """Counts the use of models for each site and day, for all processes and machines."""

    def add(self, site_id: str, model: str, used: Used) -> None:
        """Add to today's counts. A site that was just removed is ignored."""
        counts = {name: getattr(used, name) for name in _COUNTS}
        key = {"site_id": site_id, "day": _day(), "model": model}
        try:
            self._write(adding(self._db.dialect, usage, _COUNTS), {**key, **counts})
        except IntegrityError:
            return

    def reserve(self, limits: Mapping[str, DailyLimit], amount: Used, day: str) -> str:
        """Count `amount` towards every budget of `limits`, or towards none: then return the name of one that
        has no room for it. Calls at the same time never exceed a budget together."""
        try:
            with self._db.begin() as connection:
                for name in sorted(limits):  # always in one order, or two calls could wait for each other
                    self._count(connection, name, amount, day)
                    if limits[name].exceeded(_spent(connection, name, day)):
                        raise _NoRoom(name)
        except _NoRoom as full:
            return str(full)
        return ""

    def settle(self, names: Collection[str], reserved: Used, used: Used, day: str) -> None:
        """Replace what was reserved by what was used."""
        more = Used(0, used.tokens - reserved.tokens, 0, used.cost - reserved.cost)
        with self._db.begin() as connection:
            for name in sorted(names):
                self._count(connection, name, more, day)

    def spent(self, name: str, day: str) -> Used:
        """Return what a budget has spent and reserved on a day."""
        with self._db.connect() as connection:
            return _spent(connection, name, day)

    def forget_budgets(self) -> None:
        """Delete the budgets of past days."""
        self._write(delete(budgets).where(budgets.c.day < _day(1)))

    def _count(self, connection: Connection, name: str, amount: Used, day: str) -> None:
        row = {"name": name, "day": day, "tokens": amount.tokens, "cost": amount.cost}
        connection.execute(adding(self._db.dialect, budgets, ("tokens", "cost")), row)

    def today(self, site_id: str) -> Used:
        """Return today's usage (UTC)."""
        return self.last_days(site_id, 1)

    def today_by_site(self) -> dict[str, Used]:
        """Return today's usage (UTC) by site, for sites that have any."""
        wanted = select(usage.c.site_id, *_SUMS).where(usage.c.day == _day()).group_by(usage.c.site_id)
        return {row[0]: _used(row[1:]) for row in self._rows(wanted)}

    def last_days(self, site_id: str, days: int) -> Used:
        """Return the usage of the last `days` days, including today."""
        held = (usage.c.site_id == site_id, usage.c.day >= _day(days - 1))
        return _used(self._rows(select(*_SUMS).where(*held))[0])

    def by_model(self, site_ids: Collection[str], first: date, last: date) -> dict[str, Used]:
        """Return the usage of these sites between two days (UTC), both included, by model."""
        held = (usage.c.site_id.in_(site_ids), usage.c.day.between(first.isoformat(), last.isoformat()))
        wanted = select(usage.c.model, *_SUMS).where(*held).group_by(usage.c.model).order_by(usage.c.model)
        return {row[0]: _used(row[1:]) for row in self._rows(wanted)}


def _used(sums: Sequence[Any]) -> Used:
    calls, tokens_in, tokens_out, cost = sums
    return Used(int(calls), int(tokens_in), int(tokens_out), float(cost))


class _NoRoom(Exception):
    """A budget would be exceeded; the text is its name."""


def _spent(connection: Connection, name: str, day: str) -> Used:
    same = (budgets.c.name == name, budgets.c.day == day)
    row = connection.execute(select(budgets.c.tokens, budgets.c.cost).where(*same)).first()
    return Used(0, int(row.tokens), 0, float(row.cost)) if row else Used()


def _day(before: int = 0) -> str:
    return (datetime.now(UTC) - timedelta(days=before)).date().isoformat()
