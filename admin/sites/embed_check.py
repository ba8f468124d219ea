"""Is the widget on the site's pages, and does it answer there?"""

from __future__ import annotations

from flask import render_template, request
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import StopValidation

from admin.access import configuration, shared
from admin.addresses import BadAddress, is_private, parse_address
from admin.audit import unchanged
from admin.forms import UNPROCESSABLE, Form, Needed
from admin.page import Page
from admin.sites import site as site_page
from admin.sites.embed_probe import check_embedding
from admin.sites.snippet import snippet_of
from crawler.errors import BadStart
from server.domain.site import Site

page = Page(under=site_page.page)


class PageForm(Form):
    """A page that has, or should have, the widget."""

    address = StringField("Page", [Needed("Write the address of a page that has the chat.")])

    def validate_address(self, field: StringField) -> None:
        """Completes the address and refuses what may not be opened."""
        try:
            field.data = parse_address(field.data)
        except BadAddress as error:
            raise StopValidation(str(error)) from error


@page.get("/sites/<site_id>/embed-check")
def embed_check(site: Site) -> ResponseReturnValue:
    start = site.start_urls[0] if site.start_urls else ""
    return _shown(site, PageForm(formdata=None, address=start))


@page.post("/sites/<site_id>/embed-check")
def embed_check_run(site: Site) -> ResponseReturnValue:
    """Opens the page and asks as its visitors would; takes as long as that takes."""
    unchanged()
    form = PageForm(request.form)
    if not form.validate():
        return _shown(site, form), UNPROCESSABLE
    settings = configuration().settings
    if is_private(form.address.data) and not (site.allow_private or settings.crawling.allow_private):
        form.address.errors = ["This is an address of a private network, which Docent may not open."]
        return _shown(site, form), UNPROCESSABLE
    try:
        steps = list(check_embedding(site, form.address.data, settings))
    except BadStart as error:
        form.address.errors = [str(error)]
        return _shown(site, form), UNPROCESSABLE
    return _shown(site, form, steps)


def _shown(site: Site, form: PageForm, steps: object = ()) -> str:
    return render_template(
        "admin/embed_check.html",
        site=site,
        form=form,
        steps=steps,
        snippet=snippet_of(site),
        seen=shared().sightings.of(site),
    )
