"""What the filters above lists have in common: `?site=` and `?days=`.

Days are days in UTC, today the last of them: so a list, a figure and a bar of a chart mean the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from flask import request
from wtforms import SelectChoice

from admin.texts import _, lazy
from admin.visible import sees_all, visible_ids, visible_sites
from server.domain.roles import SiteSet
from server.domain.site import Site

DAY_OPTIONS = (
    (0, lazy("At any time")),
    (1, lazy("Today")),
    (7, lazy("Last 7 days")),
    (30, lazy("Last 30 days")),
    (90, lazy("Last 90 days")),
)


def chosen_site() -> tuple[dict[str, Site], str, SiteSet]:
    """Every site that the operator sees by id; the id that is asked for, empty for all of them or an unknown
    one; and the ids that stores are asked for."""
    sites = {site.id: site for site in visible_sites()}
    wanted = request.args.get("site", "")
    return (sites, wanted, frozenset({wanted})) if wanted in sites else (sites, "", visible_ids())


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
    return [
        ("", _("All sites") if sees_all() else _("All your sites")),
        *((site.id, site.name) for site in sites.values()),
    ]


def site_choices() -> list[SelectChoice]:
    """Return the sites that the operator sees as choices of a form's field, with one for all where that is
    every site."""
    options = site_options({site.id: site for site in visible_sites()})
    return [SelectChoice(*option) for option in options[not sees_all() :]]


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
