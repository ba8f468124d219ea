"""Is it working: the share of questions answered without a person, its trend, and what needs attention.

The overview and the weekly digest show the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from admin.formats import OUTCOMES, decimal, milliseconds, money, number, percent, sentence
from admin.lists import began
from admin.overview.health import MODEL_KINDS
from admin.texts import _, ngettext
from server.contact.messages import resting
from server.domain.contact import DeliveryState
from server.domain.gap import OPEN, GapKind
from server.domain.roles import SiteSet
from server.domain.site import Site
from server.runtime.runtime import Runtime
from server.storage.conversations.figures import Figures, FigureStore
from server.storage.crawls.runs import CrawlRun


@dataclass(frozen=True, slots=True)
class Period:
    """The last `count` days (UTC), today the last of them as far as it has come.

    The period before is cut at the same time of day: half a day is compared with half a day.
    """

    count: int
    now: datetime

    @property
    def since(self) -> datetime:
        """When the first day began."""
        return began(self.count, self.now)

    @property
    def before_since(self) -> datetime:
        """When the first day of the period before began."""
        return self.since - timedelta(days=self.count)

    @property
    def before_until(self) -> datetime:
        """Where the period before is cut."""
        return self.now - timedelta(days=self.count)

    @property
    def days(self) -> list[date]:
        """The oldest first."""
        first = self.since.date()
        return [first + timedelta(days=at) for at in range(self.count)]


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of lists that count the same as a figure."""

    home: str
    """Address of the dashboard, with a slash at its end."""
    span: Mapping[str, object]
    """The arguments with which a list shows the same period."""
    site_id: str = ""

    def to(self, path: str, *, whole: bool = False, **values: object) -> str:
        """Address of a page, filtered by site and, unless it is `whole`, by period."""
        site = {"site": self.site_id} if self.site_id else {}
        query = urlencode({**site, **({} if whole else self.span), **values})
        return f"{self.home}{path}{'?' if query else ''}{query}"


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure."""

    label: str
    text: str
    address: str
    """The list that counts it."""
    before: str
    """What it was in the period before; empty when there is nothing to compare with."""
    change: str
    """Such as +12 %."""
    note: str = ""
    counted: int | None = None
    """What the list counts, where that is another number than the figure."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that somebody should look at."""

    text: str
    address: str
    is_bad: bool = False
    """Whether visitors suffer from it now."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the overview and the digest begin with."""

    total: Figures
    before: Figures
    tiles: list[Compared]
    attention: list[Attention]
    by_day: Mapping[str, Figures]
    """Of the days (ISO) with questions."""
    runs: Mapping[str, CrawlRun | None]
    """Newest crawl of each site."""

    @property
    def share(self) -> str:
        """Share of the questions that were answered without a person, such as 82 %."""
        return percent(_answered(self.total) / self.total.asked) if self.total.asked else "–"

    @property
    def sentence(self) -> str:
        """What the share counts."""
        return ngettext(
            "%(answered)s of %(asked)s question was answered without a person.",
            "%(answered)s of %(asked)s questions were answered without a person.",
            self.total.asked,
            answered=number(_answered(self.total)),
            asked=number(self.total.asked),
        )

    @property
    def trend(self) -> str:
        """How the share compares with the period before; empty without questions in either."""
        if not self.before.asked or not self.total.asked:
            return ""
        now, then = (100 * _answered(one) / one.asked for one in (self.total, self.before))
        points = round(now) - round(then)
        before = percent(then / 100)
        if not points:
            return _("The same as in the period before.")
        if points > 0:
            return _("Better than in the period before (%(share)s).", share=before)
        return _("Worse than in the period before (%(share)s).", share=before)


def summarise(
    runtime: Runtime, sites: Sequence[Site], site_ids: SiteSet, period: Period, links: Links, person: str
) -> Summary:
    """Of these sites; `site_ids` are their ids as stores are asked for them, `person` is who reads it."""
    store, ids = runtime.dialogue.figures, [site.id for site in sites]
    by_day = store.by_day(ids, period.days[0], period.days[-1])
    total = sum(by_day.values(), Figures())
    before = _before(store, ids, period)
    runs = {site.id: runtime.stores.crawls.latest(site.id) for site in sites}
    found = _attention(runtime, site_ids, period, total, links, person)
    return Summary(
        total,
        before,
        [
            _count(_("Questions"), total.asked, before.asked, links.to("conversations")),
            *(_outcome(name, total, before, links) for name in ("refused", "handoff")),
            _count(_("Thumbs down"), total.down, before.down, links.to("conversations", thumbs="down")),
        ],
        [*_crawls(sites, runs, links), *found],
        by_day,
        runs,
    )


def details(
    runtime: Runtime, summary: Summary, site_ids: SiteSet, period: Period, links: Links
) -> Iterator[Compared]:
    """The figures that are not among the tiles."""
    total, before, contact = summary.total, summary.before, runtime.delivery.contact
    yield _count(_("Conversations"), total.opened, before.opened, links.to("conversations", first=1))
    for name in ("answered", "curated", "clarify", "limited"):
        yield _outcome(name, total, before, links)
    yield _count(_("Thumbs up"), total.up, before.up, links.to("conversations", thumbs="up"))
    written = contact.total(site_ids=site_ids, since=period.since)
    then = contact.total(site_ids=site_ids, since=period.before_since, until=period.before_until)
    yield _count(_("Messages to people"), written, then, links.to("messages"))
    for label, share in ((_("Median time"), 0.5), (_("95 % answered within"), 0.95)):
        if step := total.within(share):
            yield _time(label, total, step, before.within(share), links.to("conversations", slower=step))
    if total.tokens or before.tokens:
        address = links.to("conversations", paid=1)
        spent, then_spent = money(total.cost), money(before.cost)
        yield Compared(_("Cost of answers"), spent, address, then_spent, change(total.cost, before.cost))
        yield _count(_("Tokens"), total.tokens, before.tokens, address)


def change(now: float, then: float) -> str:
    """By how much; empty when that says nothing."""
    share = (now - then) / then if then else 0.0
    if not round(100 * share):
        return ""
    if abs(share) >= 10:
        return _("%(num)s times as many", num=decimal(now / then, 0))
    return f"{'+' if share > 0 else ''}{percent(share)}"


def _answered(figures: Figures) -> int:
    return figures.answered + figures.curated


def _count(label: str, now: int, then: int, address: str) -> Compared:
    return Compared(label, number(now), address, number(then), change(now, then))


def _outcome(name: str, total: Figures, before: Figures, links: Links) -> Compared:
    address = links.to("conversations", outcome=name)
    return _count(str(OUTCOMES[name]), getattr(total, name), getattr(before, name), address)


def _time(label: str, total: Figures, step: int, then: int | None, address: str) -> Compared:
    slower = total.slower(step)
    return Compared(
        label,
        milliseconds(step),
        address,
        milliseconds(then) if then else "",
        change(step, then or 0),
        _("%(count)s took longer", count=number(slower)),
        slower,
    )


def _before(store: FigureStore, ids: list[str], period: Period) -> Figures:
    cut = period.before_until
    begin = cut.replace(hour=0, minute=0, second=0, microsecond=0)
    figures = store.between(ids, begin, cut)
    if period.count > 1:
        whole_days = store.by_day(ids, period.before_since.date(), begin.date() - timedelta(days=1))
        figures = sum(whole_days.values(), figures)
    return figures


def _crawls(sites: Sequence[Site], runs: Mapping[str, CrawlRun | None], links: Links) -> Iterator[Attention]:
    for site in sites:
        run, address = runs[site.id], f"{links.home}sites/{site.id}"
        if run is None:
            yield Attention(_("%(site)s was never crawled.", site=site.name), address, is_bad=True)
        elif run.state == "held":
            text = _(
                "The last crawl of %(site)s is held back: answers got worse. Decide if it goes live.",
                site=site.name,
            )
            yield Attention(text, f"{address}/quality/gate", is_bad=True)
        elif run.state == "paused":
            yield Attention(_("The crawl of %(site)s is paused.", site=site.name), address)
        elif run.state == "failed":
            reason = sentence(run.message)
            text = _("The last crawl of %(site)s failed. %(reason)s", site=site.name, reason=reason)
            yield Attention(text, address, is_bad=True)


def _attention(
    runtime: Runtime, site_ids: SiteSet, period: Period, total: Figures, links: Links, person: str
) -> Iterator[Attention]:
    kinds = runtime.stores.incidents.kinds(site_ids, period.since)
    if kinds.get("budget_spent"):
        text = _("The model budget was used up. Visitors got quoted answers until midnight UTC.")
        yield Attention(text, links.to("health", kind="budget_spent"), is_bad=True)
    if failed := runtime.delivery.contact.total(site_ids=site_ids, state=DeliveryState.FAILED):
        text = ngettext(
            "%(num)s message of a visitor could not be sent.",
            "%(num)s messages of visitors could not be sent.",
            failed,
        )
        yield Attention(text, links.to("messages", whole=True, state="failed"), is_bad=True)
    wait = {"site_ids": site_ids, "state": DeliveryState.WAITING, "since": period.since}
    for channel in resting(runtime.settings):
        if waiting := runtime.delivery.contact.total(**wait, channel=channel):
            text = ngettext(
                "%(num)s message of a visitor is on this dashboard only: no mail server is set.",
                "%(num)s messages of visitors are on this dashboard only: no mail server is set.",
                waiting,
            )
            yield Attention(text, links.to("messages", state="waiting"), is_bad=True)
    if times := sum(kinds.get(kind, 0) for kind in MODEL_KINDS - {"budget_spent"}):
        text = ngettext("A model failed %(num)s time.", "Models failed %(num)s times.", times)
        effect = _("Visitors got quoted answers instead.")
        yield Attention(f"{text} {effect}", links.to("health"))
    gaps = runtime.stores.gaps
    if mine := sum(
        gaps.counts(site_ids=site_ids, statuses=OPEN, assigned_to=person).values() if person else ()
    ):
        text = ngettext("%(num)s gap is assigned to you.", "%(num)s gaps are assigned to you.", mine)
        yield Attention(text, links.to("gaps", whole=True, assigned=person))
    if missing := gaps.counts(site_ids=site_ids, statuses=OPEN)[GapKind.MISSING]:
        text = ngettext(
            "%(num)s question needs an answer, or a better one.",
            "%(num)s different questions need an answer, or a better one.",
            missing,
        )
        yield Attention(text, links.to("gaps", whole=True))
    if total.down:
        text = ngettext("%(num)s answer got a thumb down.", "%(num)s answers got a thumb down.", total.down)
        yield Attention(text, links.to("conversations", thumbs="down"))
