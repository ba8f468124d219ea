"""The entry: are visitors served, how does that compare with before, and what is the matter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import FILTERS, milliseconds, money, number
from admin.lists import DAY_OPTIONS, began, chosen_site
from admin.overview.health import Kind, kind_of
from admin.page import Page
from server.api.access import configuration, database, delivery, dialogue, shared, stores
from server.domain.contact import DeliveryState
from server.domain.roles import SiteSet
from server.domain.site import Site
from server.guards import surges
from server.settings import SETTINGS
from server.storage.conversations.conversations import Retention
from server.storage.conversations.figures import Figures, FigureStore
from server.storage.crawls.runs import CrawlRun

STEP, BAR, HEIGHT = 10, 7, 100
"""Width of one day, width of its bar, and height of the picture, in the units of the picture."""
FEWEST_DAYS = 7
"""That a picture has room for: a single day is a bar, and not a wall."""
NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """One value a day. None where there is nothing to show."""

    name: str
    colour: str
    """Its class."""
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """What `_charts.html` draws."""

    title: str
    days: Sequence[str]
    top: float
    """The value of the upper edge; the lower edge is 0."""
    legend: Sequence[tuple[str, str]]
    """(name, class)"""
    paths: Sequence[tuple[str, str]]
    """(class, what is drawn)"""
    told: Sequence[str] = ()
    """The tooltip of each day."""

    @property
    def size(self) -> tuple[int, int, int]:
        """Width, height, and width of a day."""
        return max(FEWEST_DAYS, len(self.days)) * STEP, HEIGHT, STEP


def stacked(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One bar a day, its parts one above the other."""
    sums = [sum(one.values[at] or 0 for one in series) for at in range(len(days))]
    top = _nice(max(sums, default=0))
    below = [0.0] * len(days)
    paths, told = [], []
    for one in series:
        path = ""
        for at, value in enumerate(one.values):
            if value:
                left, height = at * STEP + (STEP - BAR) / 2, HEIGHT * value / top
                below[at] += height
                path += f"M{left:g} {HEIGHT - below[at]:.2f}h{BAR}v{height:.2f}h-{BAR}z"
        if path:
            paths.append((one.colour, path))
    for at, day in enumerate(days):
        parts = "; ".join(f"{one.name} {one.values[at]:g}" for one in series if one.values[at])
        told.append(f"{day}: {parts or 'nothing'}")
    return Chart(title, days, top, _legend(series), paths, told)


def lines(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One line for each series, broken where a day has no value."""
    top = _nice(max((value for one in series for value in one.values if value is not None), default=0))
    return Chart(
        title, days, top, _legend(series), [(f"line {one.colour}", _line(one, top)) for one in series]
    )


def _legend(series: Sequence[Series]) -> list[tuple[str, str]]:
    return [(one.name, one.colour) for one in series if any(one.values)]


def _line(series: Series, top: float) -> str:
    points = [
        None if value is None else f"{at * STEP + STEP / 2:g} {HEIGHT - HEIGHT * value / top:.2f}"
        for at, value in enumerate(series.values)
    ]
    pieces = [list(filter(None, piece)) for drawn, piece in groupby(points, bool) if drawn]
    # A day between two without a value would be no line: it is drawn as a short one.
    return "".join(f"M{'L'.join(piece)}{'h1' if len(piece) == 1 else ''}" for piece in pieces)


def _nice(most: float) -> float:
    """The next round number; a whole one without a point."""
    if most <= 0:
        return 1
    power = 1.0
    while power * 10 < most:
        power *= 10
    while power > most:
        power /= 10
    nice = next(step * power for step in NICE if step * power >= most * 0.999999)
    return int(nice) if nice == int(nice) else nice


OUTCOMES = (
    ("answered", "Answered"),
    ("curated", "Curated"),
    ("refused", "Refused"),
    ("clarify", "Asked back"),
    ("handoff", "Handed over"),
    ("limited", "Turned away"),
)
"""In the order of the bars, from below."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure."""

    label: str
    text: str
    address: str
    """The list that counts it."""
    before: str
    """What it was in the days before; empty when there is nothing to compare with."""
    change: str
    """Such as +12 %."""
    note: str = ""
    counted: int | None = None
    """What the list counts, where that is another number than the figure."""


def compared(
    total: Figures, before: Figures, written: int, written_before: int, site_id: str, days: int
) -> list[Compared]:
    """All of them. `written` are messages to people."""
    shared: dict[str, Any] = {"days": days, **({"site": site_id} if site_id else {})}

    def listed(**held: str | int) -> str:
        return url_for("admin.conversations", **{**shared, **held})

    def count(label: str, now: int, then: int, address: str) -> Compared:
        return Compared(label, number(now), address, number(then), change(now, then))

    figures = [
        count("Conversations", total.opened, before.opened, listed(first=1)),
        count("Questions", total.asked, before.asked, listed()),
    ]
    figures += [
        count(label, getattr(total, name), getattr(before, name), listed(outcome=name))
        for name, label in OUTCOMES
    ]
    figures += [
        count("Thumbs up", total.up, before.up, listed(thumbs="up")),
        count("Thumbs down", total.down, before.down, listed(thumbs="down")),
        count("Messages to people", written, written_before, url_for("admin.messages", **shared)),
    ]
    for label, share in (("Half within", 0.5), ("95 % within", 0.95)):
        if step := total.within(share):
            figures.append(_time(label, total, step, before.within(share), listed(slower=step)))
    return [*figures, *_spent(total, before, listed(paid=1))]


def change(now: float, then: float) -> str:
    """By how much; empty when that says nothing."""
    if not then or now == then:
        return ""
    share = 100 * (now - then) / then
    return f"{share:+.0f} %" if abs(share) < 1000 else f"{now / then:.0f} times"


def _time(label: str, total: Figures, step: int, then: int | None, address: str) -> Compared:
    slower = total.slower(step)
    return Compared(
        label,
        milliseconds(step),
        address,
        milliseconds(then) if then else "",
        change(step, then or 0),
        f"{number(slower)} took longer",
        slower,
    )


def _spent(total: Figures, before: Figures, address: str) -> Iterator[Compared]:
    if not total.tokens and not before.tokens:
        return
    spent, then = money(total.cost), money(before.cost)
    yield Compared("Cost of answers", spent, address, then, change(total.cost, before.cost))
    spent, then = number(total.tokens), number(before.tokens)
    yield Compared("Tokens", spent, address, then, change(total.tokens, before.tokens))


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


page = Page(menu="Overview")


@dataclass(frozen=True, slots=True)
class Summary:
    """Whether one site is read."""

    site: Site
    live_pages: int
    run: CrawlRun | None
    asked: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """How often one kind of incident happened."""

    name: str
    kind: Kind
    times: int
    before: int


@dataclass(frozen=True, slots=True)
class Day:
    """One row of the table behind the charts."""

    day: str
    counts: list[tuple[str, int]]
    """(what the list is filtered by, how many)"""
    others: list[str]


@page.get("/")
def overview() -> ResponseReturnValue:
    """Figures of one `site` or of all, over the last `days`."""
    sites, site_id, site_ids = chosen_site()
    days = request.args.get("days", DEFAULT, type=int)
    period = Period(days if days in CHOICES else DEFAULT, datetime.now(UTC))
    ids = [site_id] if site_id else list(sites)
    store = dialogue().figures
    by_day = store.by_day(ids, period.days[0], period.days[-1])
    total = sum(by_day.values(), Figures())
    asked = store.asked(ids, period.days[0], period.days[-1])
    return render_template(
        "admin/overview.html",
        sites=sites,
        site_id=site_id,
        period=period,
        day_options=[(days, label) for days, label in DAY_OPTIONS if days in CHOICES],
        figures=_compared(store, ids, site_id, site_ids, period, total),
        total=total,
        charts=_charts(period, by_day, total),
        days=[_day(day.isoformat(), by_day.get(day.isoformat(), Figures())) for day in reversed(period.days)],
        outcomes=OUTCOMES,
        format=FILTERS,
        listed=url_for("admin.conversations", site=site_id or None),
        troubles=_troubles(site_ids, period),
        deletion=_announced_deletion(),
        surges=_surges(asked),
        usage=stores().usage.by_model(ids, period.days[0], period.days[-1]),
        summaries=_summaries([sites[id] for id in ids], asked),
        waiting=delivery().contact.total(site_ids=site_ids, state=DeliveryState.WAITING),
        failed=delivery().contact.total(site_ids=site_ids, state=DeliveryState.FAILED),
    )


def _surges(asked: Mapping[str, int]) -> dict[str, datetime]:
    """Sites for which new visitors prove work now, and since when, by how much each was asked lately."""
    if not configuration().settings.limits.proof_on_surge:
        return {}
    busy = [site_id for site_id, count in asked.items() if count > surges.FEWEST]
    return {site_id: since for site_id in busy if (since := shared().surges.since(site_id))}


def _announced_deletion() -> tuple[int, datetime] | None:
    """(days, first day of deletion) while the default deletes old conversations soon and nobody chose it."""
    settings, at = configuration().settings, datetime.now(UTC)
    days = settings.privacy.conversation_days
    if not days or SETTINGS["conversation_days"].is_given(settings):
        return None
    begins = Retention(database()).begins(days, at, shows=True)
    return (days, begins) if begins and begins > at else None


def _compared(
    store: FigureStore, ids: list[str], site_id: str, site_ids: SiteSet, period: Period, total: Figures
) -> list[Compared]:
    """Compare every figure with the days before, and link the list that counts the same."""
    cut = period.before_until
    began = cut.replace(hour=0, minute=0, second=0, microsecond=0)
    before = store.between(ids, began, cut)
    if period.count > 1:
        before += store.total(ids, period.before_since.date(), began.date() - timedelta(days=1))
    contact = delivery().contact
    written = contact.total(site_ids=site_ids, since=period.since)
    written_before = contact.total(site_ids=site_ids, since=period.before_since, until=period.before_until)
    return compared(total, before, written, written_before, site_id, period.count)


def _charts(period: Period, by_day: Mapping[str, Figures], total: Figures) -> list[tuple[Chart, str]]:
    """Each with the filter of templates that its numbers are written by."""
    days = [day.isoformat() for day in period.days]
    of_days = [by_day.get(day, Figures()) for day in days]
    drawn: list[tuple[Chart, str]] = []
    if total.asked:
        parts = [
            Series(label, f"of-{name}", [getattr(one, name) for one in of_days]) for name, label in OUTCOMES
        ]
        drawn.append((stacked("Questions a day, by how they ended", days, parts), "number"))
        slow = Series("95 % within", "of-slow", [one.within(0.95) for one in of_days])
        half = Series("Half within", "of-half", [one.within(0.5) for one in of_days])
        drawn.append((lines("Time until the answer was complete", days, [slow, half]), "milliseconds"))
    if total.cost:
        cost = Series("Cost", "of-cost", [one.cost for one in of_days])
        drawn.append((stacked("Cost a day", days, [cost]), "money"))
    return drawn


def _day(day: str, figures: Figures) -> Day:
    counts = [(f"&outcome={name}", getattr(figures, name)) for name, _ in OUTCOMES]
    counts += [("&thumbs=up", figures.up), ("&thumbs=down", figures.down)]
    steps = [figures.within(share) for share in (0.5, 0.95)]
    times = ["–" if step is None else milliseconds(step) for step in steps]
    return Day(day, [("", figures.asked), *counts], [*times, money(figures.cost)])


def _troubles(site_ids: SiteSet, period: Period) -> list[Trouble]:
    """Kinds of incidents of these days and of those before, the most frequent first."""
    now = stores().incidents.kinds(site_ids, period.since)
    before = stores().incidents.kinds(site_ids, period.before_since, period.before_until)
    found = [Trouble(name, kind_of(name), now.get(name, 0), before.get(name, 0)) for name in {*now, *before}]
    return sorted(found, key=lambda trouble: (-trouble.times, -trouble.before, trouble.name))


def _summaries(shown: list[Site], asked: Mapping[str, int]) -> list[Summary]:
    return [
        Summary(
            site,
            stores().content(site.id).counts()[0],
            stores().crawls.latest(site.id),
            asked.get(site.id, 0),
        )
        for site in shown
    ]
