"""The first questions: made from the pages of a site, asked at once, each shown with its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from flask import flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.people.sessions import operator_email
from admin.replies import progress, unchanged
from admin.sites import sites as sites_page
from admin.sites.sites import snippet_of
from admin.start import walk as walks
from server.api.access import configuration, playground_runner, stores
from server.domain.answer import EMBEDDED
from server.domain.look import Welcome
from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.starters import candidates
from server.playground.columns import Column, columns_of, variants_of
from server.playground.order import WrongOrder, read_order
from server.playground.store import ASKING, KeptRun

page = Page(under=sites_page.page, role=Role.EDITOR)
ASKED = "first_questions"
"""The key of `Site.options` for the questions that were tried: a model is compared by the same ones."""
COUNT = 5
LOOKED_AT = 40
"""Candidates that are looked at."""
RUNS = 60
"""Runs of the playground that are looked through."""
EXCERPT_CHARS = 360
SHORTLY_S, AT_MOST_S = 2.0, 20.0
"""How long a form waits for an answer, and for a place in the playground."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A question, the page that it comes from, and what came of it."""

    text: str
    url: str
    title: str
    excerpt: str
    columns: Sequence[Column] = ()
    """Its answers; none before it was asked."""

    @property
    def is_asking(self) -> bool:
        return any(column.state == ASKING for column in self.columns)

    @property
    def version(self) -> str:
        return "/".join(column.state for column in self.columns)


@page.get("/sites/<site_id>/start/questions")
def start_questions(site: Site) -> ResponseReturnValue:
    return _shown(site)


@page.get("/sites/<site_id>/start/questions/progress")
def start_questions_progress(site: Site) -> ResponseReturnValue:
    """The answers as they come; polled by progress.js."""
    return progress("admin/_start_questions.html", **results(site))


@page.post("/sites/<site_id>/start/questions")
def start_questions_ask(site: Site) -> ResponseReturnValue:
    """Asks all of them, as visitors would."""
    unchanged()
    if problem := ask_all(site):
        flash(problem, "problem")
        return _shown(site), UNPROCESSABLE
    walks.mark(site.id, walks.QUESTIONS)
    return redirect(url_for("admin.start_questions", site_id=site.id))


def _shown(site: Site) -> str:
    return render_template(
        "admin/start_questions.html",
        **results(site),
        demo=snippet_of(site).demo,
        walk=walks.walk_of(site, walks.QUESTIONS),
    )


def ask_all(site: Site, *, compared: bool = False) -> str:
    """Ask the questions of a site by the playground: quoted and by the model where they are `compared`, else
    as the site answers. Return what is wrong."""
    questions = questions_of(site)
    stores().sites.change(site.id, lambda now: replace(now, options={**now.options, ASKED: questions}))
    runs: list[KeptRun] = []
    try:
        for text, _url in questions:
            runs.append(_begun(site, text, runs, compared=compared))
    except WrongOrder as wrong:
        return str(wrong)
    for run in runs:
        playground_runner().wait(run.id, SHORTLY_S)
    return ""


def _begun(site: Site, text: str, earlier: Sequence[KeptRun], *, compared: bool) -> KeptRun:
    """A run with this question; if there is no place left, once the earlier ones have ended."""
    values = {"question": text, "site": site.id}
    if compared:
        values |= {"strategy_0": site.strategy, "writer_0": EMBEDDED, "strategy_1": site.strategy}
    order = read_order(values, site, configuration().settings)
    try:
        return playground_runner().start(site, order, values, operator_email())
    except WrongOrder:
        if not earlier:
            raise
    for run in earlier:
        playground_runner().wait(run.id, AT_MOST_S)
    return playground_runner().start(site, order, values, operator_email())


def results(site: Site, *, compared: bool = False) -> dict[str, Any]:
    """What a page shows of the questions and of their newest answers."""
    wanted = 2 if compared else 1
    newest: dict[str, KeptRun] = {}
    for run in stores().playground_runs.recent(RUNS, {site.id}):
        if len(variants_of(run)) == wanted:
            newest.setdefault(run.question, run)
    tried = [_tried(site, text, url, newest.get(text)) for text, url in questions_of(site)]
    return {
        "tried": tried,
        "compared": compared,
        "is_asked": any(one.columns for one in tried),
        "active": any(one.is_asking for one in tried),
        "version": "|".join(one.version for one in tried),
    }


def questions_of(site: Site) -> list[list[str]]:
    """Questions with the addresses of their pages: those that were asked before, else the ones that the
    widget offers and others from headings and titles."""
    if isinstance(known := site.options.get(ASKED), list) and known:
        return [list(map(str, one)) for one in known]
    content = stores().content(site.id)
    found = {one.text: one.url for one in islice(candidates(site, content), LOOKED_AT)}
    offered = [text for text in Welcome.of(site.options).suggestions if text in found]
    return [[text, found[text]] for text in dict.fromkeys((*offered, *found))][:COUNT]


def _tried(site: Site, text: str, url: str, run: KeptRun | None) -> Tried:
    chunks = stores().content(site.id).page(url)
    said = next((chunk for chunk in chunks if text in (chunk.heading_path[-1:] or ("",))), None)
    excerpt = " ".join((said or chunks[0]).text.split()) if chunks else ""
    title = chunks[0].title if chunks else url
    columns: list[Column] = []
    if run is not None:
        kept = stores().playground_runs.get(run.id)
        seconds = configuration().settings.quality.playground_seconds
        columns = columns_of(kept, variants_of(kept), seconds, datetime.now(UTC))
    short = excerpt if len(excerpt) <= EXCERPT_CHARS else f"{excerpt[:EXCERPT_CHARS].rpartition(' ')[0]} …"
    return Tried(text, url, title, short, columns)
