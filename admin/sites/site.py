"""One site: is it read, how to embed it, who may ask."""

from dataclasses import replace
from datetime import UTC, datetime

from flask import flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import DataRequired, StopValidation

from admin.crawls.crawls import is_active, version_of
from admin.formats import sentence
from admin.forms import UNPROCESSABLE, BadAddress, Form, Lines, parse_origin, problem
from admin.page import Page
from admin.replies import changed, done, nothing_done, progress, to_next, unchanged
from admin.sites import settings as settings_page
from admin.sites import sites as sites_page
from admin.sites.sites import SiteForm, is_taken, snippet_of
from admin.start import walk as walks
from admin.texts import _, lazy
from server.answering.engine import daily_limit
from server.api.access import configuration, crawling, dialogue, stores
from server.domain.roles import Role
from server.domain.site import OFF, Site
from server.jobs.site_profile import with_address
from server.storage.crawls.runs import FAILED, CrawlRun
from server.storage.sites.secrets import has_crawl_headers

page = Page(tab=lazy("Site"), under=sites_page.page, help="dashboard")

MOST_ORIGINS = 100
EVERY = {
    OFF: lazy("Only when I ask"),
    "hourly": lazy("Every hour"),
    "daily": lazy("Every day"),
    "weekly": lazy("Every week"),
    "monthly": lazy("Every 30 days"),
}
"""How a schedule is called."""


class OriginsForm(Form):
    """Websites whose pages may show the widget, one a line."""

    origins = Lines(lazy("More websites"))

    def validate_origins(self, field: Lines) -> None:
        """Replaces what was typed by what is meant, once all of it is right."""
        if len(field.data) > MOST_ORIGINS:
            raise StopValidation(_("Enter at most %(most)s websites.", most=MOST_ORIGINS))
        try:
            field.data = tuple(dict.fromkeys(map(parse_origin, field.data)))
        except BadAddress as error:
            raise StopValidation(str(error)) from error


@page.get("/sites/<site_id>")
def site(site: Site) -> ResponseReturnValue:
    return _shown(site, OriginsForm(formdata=None, origins=site.origins))


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
        unchanged()
        flash(_("A crawl of %(name)s is already under way.", name=site.name), "done")
    elif run is not None and run.is_open:
        unchanged()
        flash(_("The crawl of %(name)s is paused. Resume it, or stop it first.", name=site.name), "problem")
    else:
        crawling().start(site.id)
        flash(_("A new crawl of %(name)s begins now.", name=site.name), "done")
    return to_next(url_for("admin.site", site_id=site.id))


@page.post("/sites/<site_id>/origins")
def site_origins(site: Site) -> ResponseReturnValue:
    form = OriginsForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    stores().sites.update(replace(site, origins=form.origins.data))
    return done(_("The allowed websites are saved."), "site")


def _shown(found: Site, form: OriginsForm) -> str:
    return render_template(
        "admin/site.html",
        form=form,
        snippet=snippet_of(found),
        own_origins=sorted(replace(found, origins=()).allowed_origins),
        history=stores().crawls.history(found.id, 10)[1:],
        schedule=stores().schedules.get(found.id),
        every=EVERY,
        used_today=stores().usage.today(found.id),
        used_month=stores().usage.last_days(found.id, 30),
        limit=daily_limit(found, configuration().settings),
        **_progress(found),
    )


def _progress(found: Site) -> dict[str, object]:
    run = stores().crawls.latest(found.id)
    return {
        "site": found,
        "run": run,
        "live_pages": stores().content(found.id).counts()[0],
        "address_form": address_form(found, run),
    }


def address_form(site: Site, run: CrawlRun | None) -> SiteForm | None:
    """The form that corrects the address of a site without a page, with what its crawl says of the address;
    None where there is nothing to correct."""
    if site.generation or run is None or run.state != FAILED or not site.start_urls:
        return None
    form = SiteForm(formdata=None, address=site.start_urls[0], name=site.name)
    problem(form, "address", sentence(run.message))
    return form


address_page = Page(under=page, help="dashboard#how-do-i-change-the-address-of-a-site", role=Role.EDITOR)


@address_page.get("/sites/<site_id>/address")
def site_address(site: Site) -> ResponseReturnValue:
    address = site.start_urls[0] if site.start_urls else ""
    return _shown_address(site, SiteForm(formdata=None, address=address, name=site.name))


@address_page.post("/sites/<site_id>/address")
def site_address_save(site: Site) -> ResponseReturnValue:
    """A site with another address is crawled at once."""
    form = SiteForm(request.form)
    if not form.validate() or is_taken(form, site.id):
        return _shown_address(site, form), UNPROCESSABLE
    name = (form.name.data or "").strip()
    after = stores().sites.change(site.id, lambda now: _moved(now, form.address.data, name))
    moved = after.start_urls != site.start_urls
    if not moved and after.name == site.name:
        return nothing_done(_("Nothing was changed."), "site")
    changed(
        "changed the address of the site",
        name=[site.name, after.name],
        address=[list(site.start_urls), list(after.start_urls)],
    )
    if not moved:
        return done(_("The name is saved."), "site")
    if has_crawl_headers(site) and not has_crawl_headers(after):
        gone = _(
            "The request headers were for the old address and are removed. Enter them again under Scope."
        )
        flash(gone, "warn")
    crawling().control.start_over(site.id)
    message = _("The address is saved. The crawl of %(address)s begins now.", address=form.address.data)
    return done(message, "start_crawl" if walks.walk_of(after) and not after.generation else "site")


def _moved(site: Site, address: str, name: str) -> Site:
    named = replace(site, name=name or site.name)
    return named if address in site.start_urls[:1] else with_address(named, address)


def _shown_address(site: Site, form: SiteForm) -> str:
    walk = walks.walk_of(site, walks.ADDRESS)
    return render_template("admin/site_address.html", form=form, walk=walk)


removal_page = Page(under=settings_page.page, help="dashboard#how-do-i-remove-a-site", role=Role.OWNER)

EVER = datetime(2000, 1, 1, tzinfo=UTC)


class RemovalForm(Form):
    """The site's id, typed once more."""

    typed = StringField(
        lazy("Id of the site"),
        [DataRequired(lazy("Write the id of the site, so that this cannot happen by accident."))],
    )


@removal_page.get("/sites/<site_id>/remove")
def site_removal(site: Site) -> ResponseReturnValue:
    return _shown_removal(site, RemovalForm(formdata=None))


@removal_page.post("/sites/<site_id>/remove")
def site_remove(site: Site) -> ResponseReturnValue:
    form = RemovalForm(request.form)
    if not form.validate():
        return _shown_removal(site, form), UNPROCESSABLE
    if form.typed.data.strip() != site.id:
        problem(form, "typed", _("This is not the id. Write %(id)s. Nothing was removed.", id=site.id))
        return _shown_removal(site, form), UNPROCESSABLE
    crawling().remove_site(site.id)
    changed("removed the site", site.id, name=site.name)
    message = _(
        "%(name)s is removed. Its chat no longer answers, and its data is deleted within minutes.",
        name=site.name,
    )
    return done(message, "sites")


def _shown_removal(site: Site, form: RemovalForm) -> str:
    live_pages, live_chunks = stores().content(site.id).counts()
    goes = [
        (_("Pages"), live_pages),
        (_("Sections of pages"), live_chunks),
        (_("Sources"), len(stores().sources.all(site.id))),
        (_("Your own answers"), stores().curated.count(site.id)),
        (_("Questions from visitors"), sum(dialogue().conversations.counts(site.id, EVER).values())),
    ]
    return render_template("admin/site_removal.html", form=form, goes=goes)
