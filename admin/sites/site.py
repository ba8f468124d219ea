"""One site: is it read, how to embed it, who may ask."""

from dataclasses import replace
from datetime import UTC, datetime

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField, TextAreaField
from wtforms.validators import StopValidation

from admin.crawls.crawls import is_active, version_of
from admin.forms import UNPROCESSABLE, BadAddress, Form, Needed, parse_origin, problem
from admin.page import Page
from admin.replies import changed, done, progress
from admin.sites import settings as settings_page
from admin.sites import sites as sites_page
from admin.sites.sites import snippet_of
from server.answering.engine import daily_limit
from server.api.access import configuration, crawling, dialogue, stores
from server.domain.roles import Role
from server.domain.site import OFF, PERIODS, Site

page = Page(tab="Site", under=sites_page.page)

MOST_ORIGINS = 100
SCHEDULES = ((OFF, "only when I ask"), *((every, every) for every in PERIODS))


class OriginsForm(Form):
    """Where the widget may stand, one origin a line."""

    origins = TextAreaField("Further origins")

    def validate_origins(self, field: TextAreaField) -> None:
        """Replaces what was typed by what is meant, once all of it is right."""
        lines = [line for line in (field.data or "").splitlines() if line.strip()]
        if len(lines) > MOST_ORIGINS:
            raise StopValidation(f"Keep to {MOST_ORIGINS} origins.")
        try:
            field.data = "\n".join(dict.fromkeys(parse_origin(line) for line in lines))
        except BadAddress as error:
            raise StopValidation(str(error)) from error


@page.get("/sites/<site_id>")
def site(site: Site) -> ResponseReturnValue:
    form = OriginsForm(formdata=None, origins="\n".join(site.origins))
    return _shown(site, form)


@page.get("/sites/<site_id>/progress")
def site_progress(site: Site) -> ResponseReturnValue:
    """The progress panel as it is now, and whether to ask again; polled by progress.js."""
    run = stores().crawls.latest(site.id)
    shown = _progress(site)
    return progress("admin/_progress.html", active=is_active(run), version=version_of(run), **shown)


@page.post("/sites/<site_id>/crawls")
def site_crawl(site: Site) -> ResponseReturnValue:
    run = stores().crawls.latest(site.id)
    if is_active(run):
        flash(f"{site.name} is being read already.", "done")
    elif run is not None and run.is_open:
        flash(f"The crawl of {site.name} is paused: resume it, or stop it first.", "problem")
    else:
        crawling().start(site.id)
        flash(f"A new crawl of {site.name} has begun.", "done")
    return redirect(url_for("admin.site", site_id=site.id))


@page.post("/sites/<site_id>/origins")
def site_origins(site: Site) -> ResponseReturnValue:
    form = OriginsForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    stores().sites.update(replace(site, origins=tuple(form.origins.data.splitlines())))
    return done("The allowed origins are saved.", "site")


def _shown(found: Site, form: OriginsForm) -> str:
    return render_template(
        "admin/site.html",
        form=form,
        snippet=snippet_of(found),
        own_origins=sorted(replace(found, origins=()).allowed_origins),
        history=stores().crawls.history(found.id, 10)[1:],
        schedule=stores().schedules.get(found.id),
        schedule_options=SCHEDULES,
        used_today=stores().usage.today(found.id),
        used_month=stores().usage.last_days(found.id, 30),
        limit=daily_limit(found, configuration().settings),
        **_progress(found),
    )


def _progress(found: Site) -> dict[str, object]:
    return {
        "site": found,
        "run": stores().crawls.latest(found.id),
        "live_pages": stores().content(found.id).counts()[0],
    }


removal_page = Page(under=settings_page.page)

EVER = datetime(2000, 1, 1, tzinfo=UTC)


class RemovalForm(Form):
    """The site's id, typed once more."""

    typed = StringField(
        "Id of the site", [Needed("Write the id of the site, so that this cannot happen by accident.")]
    )


@removal_page.get("/sites/<site_id>/remove", role=Role.OWNER)
def site_removal(site: Site) -> ResponseReturnValue:
    return _shown_removal(site, RemovalForm(formdata=None))


@removal_page.post("/sites/<site_id>/remove", role=Role.OWNER)
def site_remove(site: Site) -> ResponseReturnValue:
    form = RemovalForm(request.form)
    if not form.validate():
        return _shown_removal(site, form), UNPROCESSABLE
    if form.typed.data.strip() != site.id:
        problem(form, "typed", f"That is another word: write {site.id}. Nothing is removed.")
        return _shown_removal(site, form), UNPROCESSABLE
    crawling().remove_site(site.id)
    changed("removed the site", site.id, name=site.name)
    return done(
        f"{site.name} is removed: nobody is answered any more, and its data goes within minutes.", "sites"
    )


def _shown_removal(site: Site, form: RemovalForm) -> str:
    live_pages, live_chunks = stores().content(site.id).counts()
    goes = [
        ("Pages", live_pages),
        ("Chunks in the indexes", live_chunks),
        ("Sources", len(stores().sources.all(site.id))),
        ("Own answers", stores().curated.count(site.id)),
        ("Questions of visitors", sum(dialogue().conversations.counts(site.id, EVER).values())),
    ]
    return render_template("admin/site_removal.html", site=site, form=form, goes=goes)
