"""What the filters above lists have in common: `?site=` and `?days=`.

Days are days in UTC, today the last of them: so a list, a figure and a bar of a chart mean the same.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from flask import abort, redirect, request, url_for
from wtforms import SelectChoice

from admin.forms import choices
from admin.texts import _, lazy
from admin.visible import sees_all, visible_ids, visible_sites
from server.domain.contact import DeliveryState
from server.domain.roles import SiteSet
from server.domain.site import Site

DAY_OPTIONS = (
    (0, lazy("At any time")),
    (1, lazy("Today")),
    (7, lazy("Last 7 days")),
    (30, lazy("Last 30 days")),
    (90, lazy("Last 90 days")),
)
DELIVERY_STATES = {
    DeliveryState.WAITING: lazy("On its way"),
    DeliveryState.SENT: lazy("Sent"),
    DeliveryState.FAILED: lazy("Not sent"),
}


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


def one_of(name: str, known: Container[str], usual: str = "") -> str:
    """The value of this name in the address if it is known, else the usual one."""
    given = request.args.get(name, "")
    return given if given in known else usual


def searched() -> str:
    """The words that `?search=` asks for."""
    return request.args.get("search", "").strip()[:200]


def began(days: int, now: datetime) -> datetime:
    """When the first of the last so many days began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)


def site_options(sites: dict[str, Site]) -> list[tuple[str, str]]:
    """Choices of a site filter."""
    return [
        ("", _("All sites") if sees_all() else _("All your sites")),
        *((site.id, site.name) for site in sites.values()),
    ]


def chosen_state() -> DeliveryState | None:
    """The state of deliveries that is asked for; None for any other."""
    return next((known for known in DeliveryState if known == request.args.get("state")), None)


def state_options() -> list[tuple[str, str]]:
    """Choices of a filter by the state of deliveries."""
    return [("", _("Any")), *((known.value, label) for known, label in DELIVERY_STATES.items())]


def site_choices() -> list[SelectChoice]:
    """Return the sites that the operator sees as choices of a form's field, with one for all where that is
    every site."""
    return choices(site_options({site.id: site for site in visible_sites()})[not sees_all() :])


Row = TypeVar("Row")


def sliced(rows: Sequence[Row]) -> Callable[[int, int], Sequence[Row]]:
    """Rows that are there already, as `listed` takes them."""
    return lambda limit, offset: rows[offset : offset + limit]


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    number: int
    """From 1."""
    more: bool
    """Whether there is a next page."""


def listed(fetch: Callable[[int, int], Sequence[Row]], size: int) -> Listing[Row]:
    """The page that `?page=` asks for; `fetch` takes limit and offset. A page that has no row any more
    leads to the one before, or to the first."""
    number = min(max(request.args.get("page", 1, type=int), 1), 1_000_000)
    rows = fetch(size + 1, (number - 1) * size)
    if number > 1 and not rows:
        nearest = number - 1 if fetch(1, (number - 2) * size) else 1
        values = {**(request.view_args or {}), **request.args.to_dict(flat=False), "page": nearest}
        abort(redirect(url_for(str(request.endpoint), **values)))
    return Listing(rows[:size], number, len(rows) > size)
