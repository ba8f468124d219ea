"""Which part of a site is read, and a tester for one address."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice

from admin.access import services
from admin.forms import UNPROCESSABLE, Form, problem
from admin.page import Page
from admin.pages import sites as sites_page
from crawler.errors import BadStart
from crawler.explain import Finding
from server.domain.site import Site
from server.services.scope import Scope, explain_url, save_scope, scope_of

page = Page(tab="Scope", under=sites_page.page)

RENDER = [
    SelectChoice("", "As the setting CRAWL_RENDER says"),
    SelectChoice("auto", "Pages that need it"),
    SelectChoice("always", "All pages"),
    SelectChoice("never", "No page"),
]


class ScopeForm(Form):
    """Patterns are one a line."""

    path = StringField("Path")
    include = TextAreaField("Only these addresses")
    exclude = TextAreaField("Not these addresses")
    subdomains = BooleanField("Hosts below the site's own belong to it too")
    headers = TextAreaField("Headers that the site wants")
    render = SelectField("Open in a browser", choices=RENDER)

    def scope(self) -> Scope:
        return Scope(
            path=(self.path.data or "").strip(),
            include=_lines(self.include.data),
            exclude=_lines(self.exclude.data),
            subdomains=bool(self.subdomains.data),
            render=self.render.data or "",
            headers=_lines(self.headers.data),
        )


@page.get("/sites/<site_id>/scope")
def scope(site_id: str) -> ResponseReturnValue:
    """With `url`, what a crawl would do with that address."""
    found = services().sites.get(site_id)
    chosen = scope_of(found)
    form = ScopeForm(
        formdata=None,
        path=chosen.path,
        include="\n".join(chosen.include),
        exclude="\n".join(chosen.exclude),
        subdomains=chosen.subdomains,
        render=chosen.render,
        headers="\n".join(chosen.headers),
    )
    return _shown(found, form, request.args.get("url", "").strip())


@page.post("/sites/<site_id>/scope")
def scope_save(site_id: str) -> ResponseReturnValue:
    found = services().sites.get(site_id)
    form = ScopeForm(request.form)
    if not form.validate():
        return _shown(found, form), UNPROCESSABLE
    try:
        save_scope(services().sites, services().settings, site_id, form.scope())
    except BadStart as error:
        problem(form, _field_of(str(error), form), str(error))
        return _shown(found, form), UNPROCESSABLE
    flash("The scope is saved. It holds from the next crawl on.", "done")
    return redirect(url_for("admin.scope", site_id=site_id))


def _shown(found: Site, form: ScopeForm, url: str = "") -> str:
    findings, fault = _explained(found, url)
    return render_template("admin/scope.html", site=found, form=form, url=url, findings=findings, fault=fault)


def _explained(found: Site, url: str) -> tuple[list[Finding], str]:
    if not url:
        return [], ""
    try:
        return list(explain_url(found, services().settings, url)), ""
    except BadStart as error:
        return [], str(error)


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.strip() for line in (text or "").splitlines() if line.strip()))


def _field_of(message: str, form: ScopeForm) -> str:
    """The field that a fault is about: the one with the text that the message quotes."""
    if "header" in message:
        return "headers"
    quoted = any(f'"{line}"' in message for line in _lines(form.exclude.data))
    return "exclude" if quoted else "include"
