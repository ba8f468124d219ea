"""Removes a site, after it was said what goes with it and the name was typed."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from admin.access import services
from admin.audit import changed
from admin.forms import UNPROCESSABLE, Form, Needed, problem
from admin.page import Page
from admin.pages import site_settings as settings_page
from server.domain.roles import Role
from server.domain.site import Site

page = Page(under=settings_page.page)

EVER = datetime(2000, 1, 1, tzinfo=UTC)


class RemovalForm(Form):
    """The site's id, typed once more."""

    typed = StringField(
        "Id of the site", [Needed("Write the id of the site, so that this cannot happen by accident.")]
    )


@page.get("/sites/<site_id>/remove", role=Role.OWNER)
def site_removal(site_id: str) -> ResponseReturnValue:
    return _shown(services().sites.get(site_id), RemovalForm(formdata=None))


@page.post("/sites/<site_id>/remove", role=Role.OWNER)
def site_remove(site_id: str) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    form = RemovalForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    if form.typed.data.strip() != site.id:
        problem(form, "typed", f"That is another word: write {site.id}. Nothing is removed.")
        return _shown(site, form), UNPROCESSABLE
    services().remove_site(site.id)
    changed("removed the site", site.id, name=site.name)
    flash(f"{site.name} is removed: nobody is answered any more, and its data goes within minutes.", "done")
    return redirect(url_for("admin.sites"))


def _shown(site: Site, form: RemovalForm) -> str:
    live_pages, live_chunks = services().content(site.id).counts()
    goes = [
        ("Pages", live_pages),
        ("Chunks in the indexes", live_chunks),
        ("Sources", len(services().sources.all(site.id))),
        ("Own answers", services().curated.count(site.id)),
        ("Questions of visitors", sum(services().conversations.counts(site.id, EVER).values())),
    ]
    return render_template("admin/site_removal.html", site=site, form=form, goes=goes)
