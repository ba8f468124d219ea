"""The widget of one site: what it says, how it looks, what it asks of visitors, whom it hands over to."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.contrasts import contrasts, warnings
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.pages import sites as sites_page
from admin.widget_form import WidgetForm, changed, filled, with_proofs
from server.domain.contact import ContactOptions
from server.domain.look import Look
from server.domain.roles import Role
from server.domain.site import Site

page = Page(tab="Widget", under=sites_page.page)


@page.get("/sites/<site_id>/widget", role=Role.EDITOR)
def widget(site_id: str) -> ResponseReturnValue:
    site = services().sites.get(site_id)
    return _shown(site, filled(site))


@page.post("/sites/<site_id>/widget")
def widget_save(site_id: str) -> ResponseReturnValue:
    """Saves all of it, or nothing."""
    site = services().sites.get(site_id)
    form = with_proofs(WidgetForm(request.form), site)
    made = changed(site, form, services().settings.base_url)
    if made is None:
        return _shown(site, form), UNPROCESSABLE
    services().sites.update(made)
    flash("The widget is saved. Visitors get it within a minute.", "done")
    for warning in warnings(_accent(made)):
        flash(f"{warning} Some visitors will hardly see it.", "warn")
    return redirect(url_for("admin.widget", site_id=site_id))


@page.get("/sites/<site_id>/widget/preview", framed=True)
def widget_preview(site_id: str) -> ResponseReturnValue:
    """A page with the real widget on it, for the frame beside the form."""
    site = services().sites.get(site_id)
    return render_template(
        "admin/widget_preview.html", site=site, loader=f"{request.script_root}/widget/embed.js"
    )


def _accent(site: Site) -> str:
    return Look.read(site.options.get("look")).accent


def _shown(site: Site, form: WidgetForm) -> str:
    typed, faults = Look.checked({"accent": form.accent.data or ""})
    return render_template(
        "admin/widget.html",
        site=site,
        form=form,
        contrasts=contrasts("" if faults else typed.accent),
        secret=ContactOptions.of(site.options).secret,
        sends_mail=bool(services().settings.smtp_url),
        wrong=[field for field in form if field.errors],
    )
