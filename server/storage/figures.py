"""What was asked in a span of days, and how it ended: sums that the database keeps day by day.

Counting 100,000 messages takes half a second; their days are a few hundred rows. See dialogue_tables.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, case, func, select

from server.domain.answer import Outcome
from server.storage.database import Database
from server.storage.dialogue_tables import COUNTED
from server.storage.tables import messages, of_dialogue

_days, _times = of_dialogue.days, of_dialogue.times


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some messages."""

    asked: int = 0
    opened: int = 0
    """Conversations that began with one of them."""
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
    """Step of TIMES_MS -> how many answers took at most that, and longer than the step before."""

    def within(self, share: float) -> int | None:
        """The smallest step, in milliseconds, within which so many of all answers came; None without any."""
        wanted, seen = share * sum(self.times.values()), 0
        for step in sorted(self.times):
            seen += self.times[step]
            if self.times[step] and seen >= wanted:
                return step
        return None

    def slower(self, step: int) -> int:
        """How many answers took longer than a step."""
        return sum(count for took, count in self.times.items() if took > step)

    def __add__(self, other: Figures) -> Figures:
        times = dict(self.times)
        for step, count in other.times.items():
            times[step] = times.get(step, 0) + count
        return Figures(**{name: getattr(self, name) + getattr(other, name) for name in COUNTED}, times=times)


assert {one.name for one in fields(Figures)} == {*COUNTED, "times"}, "each count has its column"


class FigureStore:
    """Days are UTC days."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def by_day(self, site_ids: Collection[str], first: date, last: date) -> dict[str, Figures]:
        """Of these sites together, for every day (ISO) on which anything was asked, both ends included."""
        sums = select(_days.c.day, *_summed()).where(*_span(_days, site_ids, first, last))
        counted = select(_times.c.day, _times.c.within_ms, func.sum(_times.c.asked))
        counted = counted.where(*_span(_times, site_ids, first, last))
        with self._db.connect() as connection:
            rows = connection.execute(sums.group_by(_days.c.day)).all()
            steps = connection.execute(counted.group_by(_times.c.day, _times.c.within_ms)).all()
        times: dict[str, dict[int, int]] = {}
        for day, step, count in steps:
            times.setdefault(day, {})[step] = int(count)
        return {row.day: _figures(row._mapping, times.get(row.day, {})) for row in rows}

    def total(self, site_ids: Collection[str], first: date, last: date) -> Figures:
        """Of these sites and days together, both ends included."""
        sums = select(*_summed()).where(*_span(_days, site_ids, first, last))
        counted = select(_times.c.within_ms, func.sum(_times.c.asked))
        counted = counted.where(*_span(_times, site_ids, first, last)).group_by(_times.c.within_ms)
        with self._db.connect() as connection:
            row = connection.execute(sums).one()
            steps = connection.execute(counted).all()
        return _figures(row._mapping, {step: int(count) for step, count in steps})

    def asked(self, site_ids: Collection[str], first: date, last: date) -> dict[str, int]:
        """How many questions each of these sites got in these days; those that got none are left out."""
        counted = select(_days.c.site_id, func.sum(_days.c.asked)).group_by(_days.c.site_id)
        with self._db.connect() as connection:
            rows = connection.execute(counted.where(*_span(_days, site_ids, first, last)))
            return {site_id: int(asked) for site_id, asked in rows}

    def between(self, site_ids: Collection[str], since: datetime, until: datetime) -> Figures:
        """Counted one by one, for parts of days: from `since` until just before `until`."""
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


def _summed() -> list[ColumnElement[Any]]:
    return [func.sum(_days.c[name]).label(name) for name in COUNTED]


def _span(table: Any, site_ids: Collection[str], first: date, last: date) -> list[ColumnElement[bool]]:
    days = table.c.day.between(first.isoformat(), last.isoformat())
    return [table.c.site_id.in_(site_ids), days]


def _figures(row: RowMapping, times: Mapping[int, int]) -> Figures:
    counts = {name: int(row[name] or 0) for name in COUNTED if name != "cost"}
    # What was added and taken away again leaves a rest that is smaller than any price.
    return Figures(**counts, cost=max(0.0, round(float(row["cost"] or 0), 9)), times=times)
