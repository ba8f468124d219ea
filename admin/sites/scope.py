"""Which part of a site is crawled, and a tester for one address."""

from collections import Counter
from dataclasses import replace

from flask import abort, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectField, StringField

from admin.formats import language_name, number, sentence
from admin.forms import CONFLICT, UNPROCESSABLE, Lines, SharedForm, choices, problem
from admin.page import Page
from admin.replies import done, progress, refused, unchanged
from admin.sites import sites as sites_page
from admin.sites.sites import SiteForm
from admin.start.walk import ADDRESS, no_site
from admin.stored import translated
from admin.texts import _, lazy
from crawler.errors import BadStart
from crawler.preview import Finding
from server.api.access import configuration, crawling, stores
from server.domain.roles import Role
from server.domain.site import Site
from server.jobs.crawl_options import SiteScope, explain_url, masked, save_scope, scope_of, stored_headers
from server.jobs.dry_run import DryRun, TooManyDryRuns

page = Page(tab=lazy("Scope"), under=sites_page.page, help="crawling#can-i-crawl-only-a-part-of-my-site")

RENDER = {
    "": lazy("Default"),
    "auto": lazy("Pages that need it"),
    "always": lazy("All pages"),
    "never": lazy("No page"),
}


STEPS = {
    "address": lazy("Address"),
    "site": lazy("Site"),
    "rules": lazy("Rules"),
    "network": lazy("Network"),
    "robots": lazy("robots.txt"),
    "preference": lazy("AI preferences"),
    "sitemap": lazy("Sitemap"),
    "visit": lazy("Answer"),
    "title": lazy("Title"),
    "language": lazy("Language"),
    "text": lazy("Text"),
    "canonical": lazy("Canonical"),
    "result": lazy("Result"),
    "links": lazy("Links"),
}
"""Steps of `explain` -> their labels."""


class ScopeForm(SharedForm):
    """Patterns are one a line."""

    path = StringField(lazy("Path"))
    include = Lines(lazy("Only these addresses"))
    exclude = Lines(lazy("Not these addresses"))
    subdomains = BooleanField(lazy("Include subdomains"))
    own = BooleanField(lazy("This is my own website"))
    headers = Lines(lazy("Request headers"))
    render = SelectField(lazy("Open in a browser"), choices=choices(RENDER.items()))

    def scope(self) -> SiteScope:
        return SiteScope(
            path=(self.path.data or "").strip(),
            include=self.include.data,
            exclude=self.exclude.data,
            subdomains=bool(self.subdomains.data),
            render=self.render.data or "",
            headers=self.headers.data,
            own_site=bool(self.own.data),
        )


def filled(site: Site) -> ScopeForm:
    """The form with what is stored."""
    chosen = scope_of(site)
    return ScopeForm(formdata=None, obj=replace(chosen, headers=_masked_headers(site)), own=chosen.own_site)


@page.get("/sites/<site_id>/scope")
def scope(site: Site) -> ResponseReturnValue:
    """With `url`, what a crawl would do with that address; editors only, because Docent requests it."""
    url = request.args.get("url", "").strip() if g.operator.role.may(Role.EDITOR) else ""
    return _shown(site, filled(site).noted(), url)


@page.post("/sites/<site_id>/scope")
def scope_save(site: Site) -> ResponseReturnValue:
    form = ScopeForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    if form.is_overtaken(filled(site)):
        return _shown(site, form), CONFLICT
    try:
        save_scope(stores().sites, configuration().settings, site.id, form.scope())
    except BadStart as error:
        problem(form, _field_of(str(error), form), str(error))
        return _shown(site, form), UNPROCESSABLE
    return done(_("The rules are saved. The next crawl follows them."), "scope")


def _masked_headers(site: Site) -> tuple[str, ...]:
    """Return the stored headers without their values; none that cannot be sent, so that they can be entered
    again."""
    try:
        return masked(stored_headers(site, configuration().settings))
    except BadStart:
        return ()


def _shown(found: Site, form: ScopeForm, url: str = "") -> str:
    findings, fault = _explained(found, url)
    return render_template("admin/scope.html", site=found, form=form, url=url, findings=findings, fault=fault)


def _explained(found: Site, url: str) -> tuple[list[tuple[str, str]], str]:
    """(label and text of each step, what is wrong with `url`)"""
    if not url:
        return [], ""
    try:
        findings = explain_url(found, configuration().settings, url)
        return [(STEPS[one.step], _words(one)) for one in findings], ""
    except BadStart as error:
        return [], str(error)


def _words(finding: Finding) -> str:
    if finding.step == "title":
        return finding.text  # as the page says it
    return translated(language_name(finding.text) if finding.step == "language" else finding.text)


def _field_of(message: str, form: ScopeForm) -> str:
    """The field that a fault is about: the one with the text that the message quotes."""
    if "header" in message:
        return "headers"
    quoted = any(f'"{line}"' in message for line in form.exclude.data)
    return "exclude" if quoted else "include"


dry_run_page = Page(
    under=sites_page.page,
    help="dashboard#how-do-i-see-what-would-be-read-before-i-add-a-site",
    role=Role.EDITOR,
)


@dry_run_page.get("/dry-runs/<run_id>", all_sites=True)
def dry_run(run_id: str) -> ResponseReturnValue:
    """Show the dry run of a new site; `address` and `name` fill its form again."""
    return render_template(
        "admin/dry_run.html", **_found(_run(run_id)), site=None, pages=_most(), walk=no_site(ADDRESS)
    )


@dry_run_page.get("/dry-runs/<run_id>/progress")
def dry_run_progress(run_id: str) -> ResponseReturnValue:
    """Return the progress of a dry run; polled by progress.js."""
    run = _run(run_id)
    return progress("admin/_dry_run.html", active=run.active, version=run.version, **_found(run))


@dry_run_page.get("/sites/<site_id>/dry-runs/<run_id>")
def site_dry_run(site: Site, run_id: str) -> ResponseReturnValue:
    """Show the dry run of a site that exists."""
    run = _run(run_id)
    if run.site_id != site.id:
        abort(404)
    return render_template("admin/dry_run.html", **_found(run), pages=_most())


@dry_run_page.post("/sites/<site_id>/dry-runs")
def site_dry_run_start(site: Site) -> ResponseReturnValue:
    """With the rules as they are saved."""
    unchanged()
    try:
        run_id = crawling().dry_runs.start(site)
    except (BadStart, TooManyDryRuns) as error:
        return refused(str(error), "scope")
    return redirect(url_for("admin.site_dry_run", site_id=site.id, run_id=run_id))


def _found(run: DryRun) -> dict[str, object]:
    """What the page shows; with the form that adds the site, or corrects its address, if it is a new one."""
    address, name = request.args.get("address", "")[:2000], request.args.get("name", "")[:100]
    form = None
    if address and not run.site_id:
        form = SiteForm(formdata=None, address=address, name=name, own=run.own_site)
        if run.message and not run.active:
            problem(form, "address", sentence(run.message))
    return {
        "run": run,
        "address": address,
        "name": name,
        "form": form,
        "languages": [
            f"{language_name(code)} ({number(count)})"
            for code, count in Counter(str(one["language"]) for one in run.pages).most_common()
            if code
        ],
    }


def _run(run_id: str) -> DryRun:
    run = crawling().dry_runs.get(run_id)
    return run if run is not None else abort(404)


def _most() -> int:
    return configuration().settings.crawling.dry_run_pages
