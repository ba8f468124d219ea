"""The entry: is it working, what needs attention, and under "More" every other figure."""

from collections.abc import Mapping
from datetime import UTC, datetime

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import FILTERS, OUTCOMES, milliseconds, money
from admin.formats import day as day_word
from admin.lists import DAY_OPTIONS, chosen_site
from admin.overview.charts import Chart, Series, lines, stacked
from admin.overview.health import Kind, kind_of
from admin.overview.summary import Links, Period, details, summarise
from admin.page import Page
from admin.people.sessions import operator_email
from admin.texts import _, lazy
from server.api.access import configuration, database, dialogue, runtime, shared, stores
from server.domain.roles import SiteSet
from server.guards import surges
from server.settings import SETTINGS
from server.storage.conversations.conversations import Retention
from server.storage.conversations.figures import Figures

CHOICES = (1, 7, 30, 90)
DEFAULT = 7

page = Page(menu=lazy("Overview"), help="conversations#is-it-working")


@page.get("/")
def overview() -> ResponseReturnValue:
    """Figures of one `site` or of all, over the last `days`."""
    sites, site_id, site_ids = chosen_site()
    days = request.args.get("days", DEFAULT, type=int)
    period = Period(days if days in CHOICES else DEFAULT, datetime.now(UTC))
    shown = [sites[site_id]] if site_id else list(sites.values())
    links = Links(url_for("admin.overview"), {"days": period.count}, site_id)
    summary = summarise(runtime(), shown, site_ids, period, links, operator_email())
    ids = [site.id for site in shown]
    by_day = summary.by_day
    asked = dialogue().figures.asked(ids, period.days[0], period.days[-1])
    return render_template(
        "admin/overview.html",
        sites=sites,
        site_id=site_id,
        shown=shown,
        period=period,
        day_options=[(days, label) for days, label in DAY_OPTIONS if days in CHOICES],
        summary=summary,
        figures=list(details(runtime(), summary, site_ids, period, links)),
        charts=_charts(period, by_day, summary.total),
        days=[_day(day.isoformat(), by_day.get(day.isoformat(), Figures())) for day in reversed(period.days)],
        outcomes=OUTCOMES,
        format=FILTERS,
        listed=url_for("admin.conversations", site=site_id or None),
        troubles=_troubles(site_ids, period),
        deletion=_announced_deletion(),
        surges=_surges(asked),
        usage=stores().usage.by_model(ids, period.days[0], period.days[-1]),
        asked=asked,
    )


def _surges(asked: Mapping[str, int]) -> dict[str, datetime]:
    """Sites whose new visitors must compute a proof of work now, and since when."""
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


def _charts(period: Period, by_day: Mapping[str, Figures], total: Figures) -> list[tuple[Chart, str]]:
    """Each with the filter of templates that its numbers are written by; the first is shown at once."""
    days = [day_word(day) for day in period.days]
    of_days = [by_day.get(day.isoformat(), Figures()) for day in period.days]
    drawn: list[tuple[Chart, str]] = []
    if total.asked:
        parts = [
            Series(str(label), f"of-{name}", [getattr(one, name) for one in of_days])
            for name, label in OUTCOMES.items()
        ]
        drawn.append((stacked(_("Questions a day"), days, parts), "number"))
        slow = Series(_("95 % answered within"), "of-slow", [one.within(0.95) for one in of_days])
        half = Series(_("Median time"), "of-half", [one.within(0.5) for one in of_days])
        drawn.append((lines(_("Time until the answer was complete"), days, [slow, half]), "milliseconds"))
    if total.cost:
        cost = Series(_("Cost"), "of-cost", [one.cost for one in of_days])
        drawn.append((stacked(_("Cost a day"), days, [cost]), "money"))
    return drawn


def _day(day: str, figures: Figures) -> tuple[str, list[tuple[str, int]], list[str]]:
    """A row of the table behind the charts: the day, (what the list is filtered by, how many), and times and
    cost."""
    counts = [(f"&outcome={name}", getattr(figures, name)) for name in OUTCOMES]
    counts += [("&thumbs=up", figures.up), ("&thumbs=down", figures.down)]
    steps = [figures.within(share) for share in (0.5, 0.95)]
    times = ["–" if step is None else milliseconds(step) for step in steps]
    return day, [("", figures.asked), *counts], [*times, money(figures.cost)]


def _troubles(site_ids: SiteSet, period: Period) -> list[tuple[str, Kind, int, int]]:
    """(name, kind, times in this period, times in the one before) of incidents, the most frequent first."""
    now = stores().incidents.kinds(site_ids, period.since)
    before = stores().incidents.kinds(site_ids, period.before_since, period.before_until)
    found = [(name, kind_of(name), now.get(name, 0), before.get(name, 0)) for name in {*now, *before}]
    return sorted(found, key=lambda one: (-one[2], -one[3], one[0]))
