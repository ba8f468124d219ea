"""What an operator does with the crawls of a site: pause, resume, stop, and when they begin by themselves."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from admin.pages import sites as sites_page
from admin.redirects import safe_next
from server.domain.schedule import OFF, PERIODS, next_time
from server.storage.crawl_runs import PAUSED, RUNNING, STOPPED, WAITING, CrawlRun
from server.storage.errors import WrongState

page = Page(under=sites_page.page)


@page.post("/sites/<site_id>/crawl/pause")
def crawl_pause(site_id: str) -> ResponseReturnValue:
    return _done(site_id, "pause")


@page.post("/sites/<site_id>/crawl/resume")
def crawl_resume(site_id: str) -> ResponseReturnValue:
    return _done(site_id, "resume")


@page.post("/sites/<site_id>/crawl/stop")
def crawl_stop(site_id: str) -> ResponseReturnValue:
    return _done(site_id, "stop")


@page.post("/sites/<site_id>/schedule")
def site_schedule(site_id: str) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    every = request.form.get("every", "")
    if every in PERIODS:
        services().schedules.set(site_id, every, next_time(every, datetime.now(UTC)))
        flash(f"{site.name} is read {every} from now on.", "done")
    elif every == OFF:
        services().schedules.clear(site_id)
        flash(f"{site.name} is read only when you ask for it.", "done")
    else:
        flash("Choose how often the site is read.", "problem")
    return redirect(url_for("admin.site", site_id=site_id))


def _done(site_id: str, action: str) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    control = services().crawling
    try:
        run = {"pause": control.pause, "resume": control.resume, "stop": control.stop}[action](site_id)
    except WrongState:
        # It ended between the look and the click.
        flash(f"The crawl of {site.name} has ended meanwhile.", "done")
    else:
        flash(_answer(run, action), "done")
    return redirect(safe_next(request.form.get("next") or url_for("admin.site", site_id=site_id)))


def _answer(run: CrawlRun, action: str) -> str:
    if action == "resume":
        return "The crawl goes on as soon as the worker has time for it."
    if run.state == PAUSED:
        return "The crawl is paused. Nothing is lost."
    if run.state == STOPPED:
        return "The crawl is stopped."
    if run.state in (RUNNING, WAITING) and action == "stop":
        return "The crawl is being stopped. What it has read goes live."
    return "The crawl is being paused. Nothing is lost."
