"""What the filters above lists have in common: `?site=` and `?days=`.

Days are days in UTC, today the last of them: so a list, a figure and a bar of a chart mean the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from flask import request
from wtforms import SelectChoice

from server.api.access import stores
from server.domain.site import Site

DAY_OPTIONS = (
    (0, "At any time"),
    (1, "Today"),
    (7, "Last 7 days"),
    (30, "Last 30 days"),
    (90, "Last 90 days"),
)


def chosen_site() -> tuple[dict[str, Site], str]:
    """Every site by id, and the id that is asked for; empty for all of them or an unknown one."""
    sites = {site.id: site for site in stores().sites.all()}
    wanted = request.args.get("site", "")
    return sites, wanted if wanted in sites else ""


def chosen_days() -> tuple[int, datetime | None]:
    """The days that are asked for and when they began; (0, None) for any other number."""
    days = request.args.get("days", 0, type=int)
    if days not in dict(DAY_OPTIONS) or not days:
        return 0, None
    return days, began(days, datetime.now(UTC))


def began(days: int, now: datetime) -> datetime:
    """When the first of the last so many days began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)


def site_options(sites: dict[str, Site]) -> list[tuple[str, str]]:
    """Choices of a site filter."""
    return [("", "All sites"), *((site.id, site.name) for site in sites.values())]


def site_choices() -> list[SelectChoice]:
    """Return the sites as choices of a form's field, with one for all."""
    sites = {site.id: site for site in stores().sites.all()}
    return [SelectChoice(*option) for option in site_options(sites)]


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    number: int
    """From 1."""
    more: bool
    """Whether there is a next page."""


def listed(fetch: Callable[[int, int], Sequence[Row]], size: int) -> Listing[Row]:
    """The page that `?page=` asks for; `fetch` takes limit and offset."""
    number = min(max(request.args.get("page", 1, type=int), 1), 1_000_000)
    rows = fetch(size + 1, (number - 1) * size)
    return Listing(rows[:size], number, len(rows) > size)
