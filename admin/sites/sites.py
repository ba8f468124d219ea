"""Every site with the state of its index and its last crawl."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.page import Page
from server.api.access import stores

page = Page(menu="Sites")


@page.get("/sites")
def sites() -> ResponseReturnValue:
    rows = [
        (site, stores().crawls.latest(site.id), stores().content(site.id).counts()[0])
        for site in stores().sites.all()
    ]
    return render_template("admin/sites.html", rows=rows)
