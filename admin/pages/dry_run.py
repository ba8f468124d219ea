"""What would be read: the beginning of a crawl, before a site is added or after its rules were changed."""

from __future__ import annotations

from flask import abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import unchanged
from admin.page import Page
from admin.pages import sites as sites_page
from crawler.errors import BadStart
from server.domain.roles import Role
from server.services.dry_run import DryRun, TooManyDryRuns

page = Page(under=sites_page.page)


@page.get("/dry-runs/<run_id>", role=Role.EDITOR)
def dry_run(run_id: str) -> ResponseReturnValue:
    """Of a new site: `address` and `name` are those of the form that it was begun from."""
    address, name = request.args.get("address", "")[:2000], request.args.get("name", "")[:100]
    return render_template(
        "admin/dry_run.html", run=_run(run_id), site=None, address=address, name=name, pages=_most()
    )


@page.get("/dry-runs/<run_id>/progress", role=Role.EDITOR)
def dry_run_progress(run_id: str) -> ResponseReturnValue:
    """How it stands now, and whether to ask again; polled by progress.js."""
    run = _run(run_id)
    html = render_template("admin/_dry_run.html", run=run)
    return {"active": run.active, "version": run.version, "html": html}


@page.get("/sites/<site_id>/dry-runs/<run_id>", role=Role.EDITOR)
def site_dry_run(site_id: str, run_id: str) -> ResponseReturnValue:
    """Of a site that is known already."""
    site = services().sites.get(site_id)
    return render_template("admin/dry_run.html", run=_run(run_id), site=site, pages=_most())


@page.post("/sites/<site_id>/dry-runs")
def site_dry_run_start(site_id: str) -> ResponseReturnValue:
    """With the rules as they are saved."""
    unchanged()
    site = services().sites.get(site_id)
    try:
        run_id = services().dry_runs.start(site)
    except (BadStart, TooManyDryRuns) as error:
        flash(str(error), "problem")
        return redirect(url_for("admin.scope", site_id=site_id))
    return redirect(url_for("admin.site_dry_run", site_id=site_id, run_id=run_id))


def _run(run_id: str) -> DryRun:
    run = services().dry_runs.get(run_id)
    return run if run is not None else abort(404)


def _most() -> int:
    return services().settings.dry_run_pages
