"""Quality: how well each site answers, by its test sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import g, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import SelectField

from admin.formats import decimal
from admin.forms import UNPROCESSABLE, Decimal, Form, WholeNumber, choices, problem
from admin.lists import listed, one_of
from admin.page import Page
from admin.people.sessions import operator_email
from admin.quality.check import NotNow, check_of, start_check
from admin.replies import changed, done, nothing_done, progress, refused
from admin.texts import _, lazy
from admin.visible import visible_sites
from server.api.access import crawling, quality_stores
from server.domain.site import Site
from server.quality.gate import GATE_METRICS
from server.quality.gate_store import DROPPING, HELD, RELEASING, Gate
from server.quality.run_store import STOP, QualityRun
from server.quality.testset_store import StoredTestSet

page = Page(menu=lazy("Quality"), help="quality#how-do-i-check-my-site")


@page.get("/quality")
def quality() -> ResponseReturnValue:
    """Choose the site."""
    found = quality_stores()
    gates, held = found.gates.all(), found.gates.all_held()
    newest, counts = found.runs.newest(), found.testsets.counts()
    rows = [
        (site, counts.get(site.id, 0), newest.get(site.id), site.id in gates, site.id in held)
        for site in visible_sites()
    ]
    return render_template("admin/quality.html", rows=rows)


METRIC_WORDS = {
    "ndcg@10": lazy("Order of the pages"),
    "mrr@10": lazy("Right page near the top"),
    "hit@5": lazy("Right page found"),
    "recall@5": lazy("All right pages found"),
    "citation_correct": lazy("Right page cited"),
    "refused_answerable": lazy("Wrongly refused"),
    "refused_unanswerable": lazy("Rightly refused"),
    "groundedness": lazy("Supported by the pages"),
    "answer_relevance": lazy("Answers the question"),
}
"""Measure of a report -> its name on the dashboard, in the order in which they are offered."""
STRATEGY_WORDS = {
    "hybrid": lazy("Words and meaning together (standard)"),
    "lexical": lazy("Words alone"),
    "dense": lazy("Meaning alone"),
    "contextual": lazy("Sections with a note on their page"),
    "segments": lazy("Neighbouring sections joined"),
    "small-to-big": lazy("Search sentences, read sections"),
    "hierarchical": lazy("First the page, then the section"),
    "questions": lazy("Questions that each section answers"),
    "raptor": lazy("Summaries of similar sections"),
    "graphrag": lazy("Names and topics, with summaries of groups"),
    "lightrag": lazy("Names and how they are related"),
    "hipporag": lazy("Pages linked by shared phrases"),
    "auto": lazy("The best for each kind of question"),
}
"""Search method -> what it does."""
FLOW_WORDS = {
    "direct": lazy("Answer at once (standard)"),
    "self-rag": lazy("Check the answer, search again if weak"),
    "corrective": lazy("Check the results, search again if weak"),
}


def strategy_word(spec: str) -> str:
    """What a search method does; its options follow as they are written."""
    name, bracket, options = spec.partition("[")
    word = STRATEGY_WORDS.get(name, name)
    return f"{word} [{options}" if bracket else str(word)


def flow_word(name: str) -> str:
    """What a flow does."""
    return str(FLOW_WORDS.get(name, name))


WIDTH, HEIGHT, EDGE = 640, 160, 12
LEFT = 34
"""Room for the figures of the scale."""
LINES = 6
"""The most variants in one picture: parts.css draws as many kinds of lines."""


@dataclass(frozen=True, slots=True)
class Point:
    """One way in one run."""

    run: QualityRun
    way: str
    value: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What is drawn, and the table behind it."""

    points: tuple[Point, ...]
    """The oldest first."""
    ways: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT

    def of(self, way: str) -> list[Point]:
        """The points of one line."""
        return [point for point in self.points if point.way == way]

    def line(self, way: str) -> str:
        """The attribute `points` of its polyline."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.of(way))


def trend_of(runs: Sequence[QualityRun], metric: str) -> Trend | None:
    """`runs` come newest first. None when no run has the figure."""
    ordered = list(reversed(runs))
    found = [
        (at, run, str(way["name"]), float(way["metrics"][metric]))
        for at, run in enumerate(ordered)
        for way in run.summary
        if way["metrics"].get(metric) is not None
    ]
    if not found:
        return None
    # The ways of the newest runs come first: they are what is looked at.
    ways = tuple(dict.fromkeys(way for _, _, way, _ in reversed(found)))[:LINES]
    first, last = found[0][0], found[-1][0]
    wide = (WIDTH - LEFT - EDGE) / max(1, last - first)
    points = (
        Point(run, way, value, LEFT + wide * (at - first), EDGE + (1 - value) * (HEIGHT - 2 * EDGE))
        for at, run, way, value in found
        if way in ways
    )
    return Trend(tuple(points), ways)


site_page = Page(under=page)

RUNS = 20


@site_page.get("/sites/<site_id>/quality")
def quality_site(site: Site) -> ResponseReturnValue:
    """`?set=` and `?metric=` choose what is drawn over time."""
    found = quality_stores()
    testsets = found.testsets.all(site.id)
    gate = found.gates.get(site.id)
    drawn, first_metric = _drawn([one.id for one in testsets]), next(iter(METRIC_WORDS))
    metric = one_of("metric", METRIC_WORDS, first_metric)
    return render_template(
        "admin/quality_site.html",
        testsets=testsets,
        runs=listed(lambda limit, offset: found.runs.all(site.id, limit, offset), RUNS),
        gate=gate,
        gate_set=next((one for one in testsets if gate and one.id == gate.testset_id), None),
        held=found.gates.held(site.id),
        checks=found.gates.history(site.id, 5),
        drawn=drawn,
        metric=metric,
        set_options=[(one.id, one.name) for one in testsets],
        metric_options=METRIC_WORDS.items(),
        first_metric=first_metric,
        trend=trend_of(found.runs.ended_of(drawn), metric) if drawn else None,
        unfolded=bool(request.args),
        **check_of(site),
        origins=ORIGINS,
        check_words=CHECK_WORDS,
        main=MAIN,
    )


@site_page.post("/sites/<site_id>/quality/check")
def quality_check(site: Site) -> ResponseReturnValue:
    """Start a check; the worker carries it out."""
    try:
        testset = start_check(site)
    except NotNow as reason:
        return refused(str(reason), "quality_site")
    changed("checked a site", testset=testset)
    return done(_("The check has started. You can leave this page."), "quality_site")


@site_page.get("/sites/<site_id>/quality/check/progress")
def quality_check_progress(site: Site) -> ResponseReturnValue:
    """Polled by progress.js."""
    shown = check_of(site)
    made, run = shown["made"], shown["run"]
    version = f"{made.state if made else ''} {run.state if run else ''} {run.done if run else 0}"
    return progress("admin/_quality_check.html", active=shown["checking"], version=version, **shown)


def _drawn(ids: list[int]) -> int:
    """The set whose figures are drawn: that asked for, else the newest that was run."""
    wanted = request.args.get("set", 0, type=int)
    if wanted in ids:
        return wanted
    return next((id for id in ids if quality_stores().runs.ended_of(id, 1)), 0)


RUN_WORDS = {
    "waiting": lazy("Waiting"),
    "running": lazy("Running"),
    "asks": lazy("Needs your approval"),
    "done": lazy("Done"),
    "failed": lazy("Failed"),
    "stopped": lazy("Stopped"),
}
RUN_COLOURS = {"asks": "warn", "done": "well", "failed": "bad", "stopped": "warn"}
CHECK_WORDS = {
    "passed": (lazy("Passed"), "well"),
    "held": (lazy("Held back"), "bad"),
    "releasing": (lazy("Going live"), "busy"),
    "released": (lazy("Released"), "warn"),
    "dropping": (lazy("Being discarded"), "busy"),
    "dropped": (lazy("Discarded"), "warn"),
    "replaced": (lazy("Measured again"), "busy"),
}
ORIGINS = {
    "headings": lazy("From the site’s pages"),
    "upload": lazy("Uploaded"),
    "conversations": lazy("From conversations"),
    "hand": lazy("Written by hand"),
}
MAIN = ("hit@5", "citation_correct", "refused_answerable", "refused_unanswerable")
"""Figures that lists show of a run."""


def run_word(run: QualityRun) -> str:
    """Return the state of a run in words."""
    if run.state == "running" and run.wanted == STOP:
        return _("Stopping")
    return str(RUN_WORDS.get(run.state, run.state))


def share(value: float | None) -> str:
    """A figure in [0, 1] as reports write it."""
    return "–" if value is None else decimal(value, 3)


def chosen_ways(chosen: Mapping[str, Any]) -> str:
    """The ways that a run asks, in a line."""
    strategies, flows = chosen.get("strategies") or [], chosen.get("flows") or []
    return f"{', '.join(strategies)}; {', '.join(flows)}"


FILTERS: dict[str, Callable[..., object]] = {
    "run_word": run_word,
    "run_colour": lambda run: RUN_COLOURS.get(run.state, "busy"),
    "share": share,
    "chosen_ways": chosen_ways,
    "strategy_word": strategy_word,
    "flow_word": flow_word,
    "metric_word": lambda name: METRIC_WORDS.get(name, name),
}


gate_page = Page(under=page, help="quality#what-does-the-quality-gate-do")

CHECKS = 30


def _ready() -> list[StoredTestSet]:
    """The test sets of the site of the address that can be asked."""
    return [one for one in quality_stores().testsets.all(g.site.id) if one.is_ready]


class TestsetForm(Form):
    """A form that names a test set of the site of the address."""

    testset = SelectField(
        lazy("Test set"),
        choices=lambda: choices((str(one.id), f"{one.name} ({one.count:,})") for one in _ready()),
        validate_choice=False,
    )

    def chosen_testset(self) -> StoredTestSet | None:
        """The test set, if it can be asked; otherwise the form says so."""
        found = next((one for one in _ready() if str(one.id) == self.testset.data), None)
        if found is None:
            problem(self, "testset", _("Choose a test set with questions."))
        return found


class GateForm(TestsetForm):
    """What a new index must not be worse by."""

    metric = SelectField(
        lazy("Measure"),
        choices=choices((name, METRIC_WORDS[name]) for name in GATE_METRICS),
        default="ndcg@10",
    )
    largest_drop = Decimal(lazy("Largest drop"), least=0, most=100, default=3.0)
    most = WholeNumber(lazy("Questions at most"), least=1, most=2000, default=100)


@gate_page.get("/sites/<site_id>/quality/gate")
def quality_gate(site: Site) -> ResponseReturnValue:
    gate = quality_stores().gates.get(site.id)
    values = {}
    if gate is not None:
        values = {"testset": str(gate.testset_id), "metric": gate.metric, "most": gate.most}
        values["largest_drop"] = round(100 * gate.largest_drop, 4)
    return _shown_gate(site, GateForm(formdata=None, **values))


@gate_page.post("/sites/<site_id>/quality/gate")
def quality_gate_set(site: Site) -> ResponseReturnValue:
    """From the next crawl on."""
    form = GateForm(request.form)
    form.validate()
    testset = form.chosen_testset()
    if form.errors or testset is None:
        return _shown_gate(site, form), UNPROCESSABLE
    drop = float(form.largest_drop.data or 0) / 100
    quality_stores().gates.set(Gate(site.id, testset.id, form.metric.data, drop, int(form.most.data or 1)))
    changed("set the quality gate", testset=testset.name, metric=form.metric.data, largest_drop=drop)
    return done(_("The gate is on, from the next crawl."), "quality_gate")


@gate_page.post("/sites/<site_id>/quality/gate/off")
def quality_gate_off(site: Site) -> ResponseReturnValue:
    if not quality_stores().gates.remove(site.id):
        return nothing_done(_("The gate was off already."), "quality_gate")
    changed("turned the quality gate off")
    return done(_("The gate is off. The next crawl goes live without a check."), "quality_gate")


@gate_page.post("/sites/<site_id>/quality/gate/release")
def quality_gate_release(site: Site) -> ResponseReturnValue:
    """The index goes live though it fell short."""
    return _decided(site, RELEASING, "let an index go live that fell short", _("It goes live in a moment."))


@gate_page.post("/sites/<site_id>/quality/gate/drop")
def quality_gate_drop(site: Site) -> ResponseReturnValue:
    """The index is discarded; the next crawl begins from the live one."""
    told = _("It is being discarded. The next crawl starts from what visitors see.")
    return _decided(site, DROPPING, "dropped an index that fell short", told)


def _decided(site: Site, state: str, action: str, told: str) -> ResponseReturnValue:
    held = quality_stores().gates.held(site.id)
    asked = request.form.get("check", type=int)
    if held is None or held.state != HELD or asked != held.id:
        return refused(_("This changed in the meantime. Look at the page again."), "quality_gate")
    if not crawling().control.decide(quality_stores().gates, held, state, operator_email()):
        return refused(_("The site is being crawled. Decide after the check at its end."), "quality_gate")
    changed(action, crawl=held.crawl_id, metric=held.metric, before=held.before, after=held.after)
    return done(told, "quality_gate")


def _shown_gate(site: Site, form: GateForm) -> str:
    return render_template(
        "admin/quality_gate.html",
        form=form,
        gate=quality_stores().gates.get(site.id),
        held=quality_stores().gates.held(site.id),
        checks=quality_stores().gates.history(site.id, CHECKS),
        words=CHECK_WORDS,
        has_sets=bool(form.testset.choices),
    )
