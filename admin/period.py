"""The days that a page is about, and as many before them to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from admin.filters import began

CHOICES = (1, 7, 30, 90)
DEFAULT = 7


@dataclass(frozen=True, slots=True)
class Period:
    """The last `count` days (UTC), today the last of them as far as it has come.

    What is before is cut at the same time of day: half a day is compared with half a day.
    """

    count: int
    now: datetime

    @property
    def since(self) -> datetime:
        """When the first day began."""
        return began(self.count, self.now)

    @property
    def before_since(self) -> datetime:
        """When the first of the days before began."""
        return self.since - timedelta(days=self.count)

    @property
    def before_until(self) -> datetime:
        """Where the days before are cut."""
        return self.now - timedelta(days=self.count)

    @property
    def days(self) -> list[date]:
        """The oldest first."""
        first = self.since.date()
        return [first + timedelta(days=at) for at in range(self.count)]
