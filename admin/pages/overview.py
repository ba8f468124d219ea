"""The entry: are visitors served, how does that compare with before, and what is the matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.charts import Chart, Series, lines, stacked
from admin.figures import OUTCOMES, Compared, compared
from admin.filters import DAY_OPTIONS, chosen_site, site_options
from admin.formats import FILTERS, milliseconds, money
from admin.incident_kinds import Kind, kind_of
from admin.page import Page
from admin.period import CHOICES, DEFAULT, Period
from server.domain.contact import DeliveryState
from server.domain.site import Site
from server.storage.crawls import CrawlRun
from server.storage.figures import Figures, FigureStore

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
    """Of one `site` or of all, over the last `days`."""
    sites, site_id = chosen_site()
    days = request.args.get("days", DEFAULT, type=int)
    period = Period(days if days in CHOICES else DEFAULT, datetime.now(UTC))
    ids = [site_id] if site_id else list(sites)
    store = FigureStore(services().database)
    by_day = store.by_day(ids, period.days[0], period.days[-1])
    total = sum(by_day.values(), Figures())
    return render_template(
        "admin/overview.html",
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        period=period,
        day_options=[(days, label) for days, label in DAY_OPTIONS if days in CHOICES],
        figures=_compared(store, ids, site_id, period, total),
        total=total,
        charts=_charts(period, by_day, total),
        days=[_day(day.isoformat(), by_day.get(day.isoformat(), Figures())) for day in reversed(period.days)],
        outcomes=OUTCOMES,
        format=FILTERS,
        listed=url_for("admin.conversations", site=site_id or None),
        troubles=_troubles(site_id, period),
        usage=services().usage.by_model(ids, period.days[0], period.days[-1]),
        summaries=_summaries([sites[id] for id in ids], store.asked(ids, period.days[0], period.days[-1])),
        waiting=services().contact.total(site_id=site_id or None, state=DeliveryState.WAITING),
        failed=services().contact.total(site_id=site_id or None, state=DeliveryState.FAILED),
    )


def _compared(
    store: FigureStore, ids: list[str], site_id: str, period: Period, total: Figures
) -> list[Compared]:
    """Every figure beside that of the days before, and the list that counts the same."""
    cut = period.before_until
    began = cut.replace(hour=0, minute=0, second=0, microsecond=0)
    before = store.between(ids, began, cut)
    if period.count > 1:
        before += store.total(ids, period.before_since.date(), began.date() - timedelta(days=1))
    contact = services().contact
    written = contact.total(site_id=site_id or None, since=period.since)
    written_before = contact.total(
        site_id=site_id or None, since=period.before_since, until=period.before_until
    )
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


def _troubles(site_id: str, period: Period) -> list[Trouble]:
    """Kinds of incidents of these days and of those before, the most frequent first."""
    now = services().incidents.kinds(site_id or None, period.since)
    before = services().incidents.kinds(site_id or None, period.before_since, period.before_until)
    found = [Trouble(name, kind_of(name), now.get(name, 0), before.get(name, 0)) for name in {*now, *before}]
    return sorted(found, key=lambda trouble: (-trouble.times, -trouble.before, trouble.name))


def _summaries(shown: list[Site], asked: Mapping[str, int]) -> list[Summary]:
    return [
        Summary(
            site,
            services().content(site.id).counts()[0],
            services().crawls.latest(site.id),
            asked.get(site.id, 0),
        )
        for site in shown
    ]
