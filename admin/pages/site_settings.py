"""The settings of one site: names, language, search, flow, wording, limits."""

from __future__ import annotations

from collections import Counter

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import changed, unchanged
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.pages import sites as sites_page
from admin.site_form import SiteSettingsForm, changed_site, differences, filled, strategy_names
from server.answering.grading import DEFAULT_FLOOR
from server.domain.roles import Role
from server.domain.site import Site
from server.services.sites import daily_limit

page = Page(tab="Settings", under=sites_page.page)

SAMPLE = 3000
"""Pages that are looked at for the languages of a site."""


@page.get("/sites/<site_id>/settings", role=Role.EDITOR)
def site_settings(site_id: str) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    return _shown(site, filled(site))


@page.post("/sites/<site_id>/settings")
def site_settings_save(site_id: str) -> ResponseReturnValue:
    """Saves all of it, or nothing."""
    before = services().sites.get(site_id)
    form = SiteSettingsForm(request.form)
    if not form.validate():
        return _shown(before, form), UNPROCESSABLE
    after = services().sites.change(site_id, lambda site: changed_site(site, form))
    done = differences(before, after)
    if not done:
        unchanged()
        flash("Nothing was changed.", "done")
        return redirect(url_for("admin.site_settings", site_id=site_id))
    changed("changed the settings of the site", changes=done)
    flash("The settings are saved. The next question is answered by them.", "done")
    if before.strategy != after.strategy and after.generation:
        services().start_crawl(site_id)
        flash("The site is read again, so that the new search knows all of it.", "done")
    return redirect(url_for("admin.site_settings", site_id=site_id))


def _shown(site: Site, form: SiteSettingsForm) -> str:
    settings = services().settings
    pages = services().content(site.id).pages(limit=SAMPLE)
    return render_template(
        "admin/site_settings.html",
        site=site,
        form=form,
        strategies=strategy_names(),
        languages=Counter(found.language or "unknown" for found in pages).most_common(8),
        calibration=site.options.get("calibration"),
        floor=settings.relevance_floor if settings.relevance_floor >= 0 else DEFAULT_FLOOR,
        limit=daily_limit(site, settings),
        settings=settings,
        wrong=[field for field in form if field.errors],
    )
