"""Every site with the state of its index and its last crawl, and the tag that puts the widget on a page."""

from dataclasses import dataclass

from flask import render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import escape

from admin.addresses import is_private
from admin.page import Page
from server.api.access import configuration, stores
from server.domain.site import Site

page = Page(menu="Sites")


@page.get("/sites")
def sites() -> ResponseReturnValue:
    rows = [
        (site, stores().crawls.latest(site.id), stores().content(site.id).counts()[0])
        for site in stores().sites.all()
    ]
    return render_template("admin/sites.html", rows=rows)


@dataclass(frozen=True, slots=True)
class Snippet:
    """What an operator copies, and where to try it first."""

    tag: str
    demo: str
    reaches_only_here: bool
    """Whether visitors elsewhere cannot load it: PUBLIC_URL is missing."""


def snippet_of(site: Site) -> Snippet:
    """Without PUBLIC_URL the address by which the operator came is the best guess."""
    base = configuration().settings.serving.public_url or request.host_url.rstrip("/")
    tag = f'<script src="{escape(base)}/widget/embed.js" data-site="{escape(site.id)}" async></script>'
    return Snippet(tag, f"{base}/demo/{site.id}", is_private(base))
