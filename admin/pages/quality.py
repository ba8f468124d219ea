"""Quality: how well each site answers, by its test sets."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page

page = Page(menu="Quality")


@page.get("/quality")
def quality() -> ResponseReturnValue:
    """Choose the site."""
    found = services()
    rows = [(site, len(found.testsets.all(site.id))) for site in found.sites.all()]
    return render_template("admin/quality.html", rows=rows)
