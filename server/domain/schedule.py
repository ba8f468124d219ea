"""How often a site is crawled by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import uniform

OFF = "off"
PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
}
JITTER = 0.05
"""Share of the period by which a time may lie earlier or later, so that sites do not all begin at once."""
MOST_JITTER = timedelta(minutes=30)


def next_time(every: str, after: datetime, spread: Callable[[float, float], float] = uniform) -> datetime:
    """When a site with the schedule `every` is crawled next. `spread` picks a number between two."""
    period = PERIODS[every]
    jitter = min(period * JITTER, MOST_JITTER).total_seconds()
    return after + period + timedelta(seconds=spread(-jitter, jitter))
