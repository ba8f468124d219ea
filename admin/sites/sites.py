"""Every site with the state of its index and its last crawl."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page

page = Page(menu="Sites")


@page.get("/sites")
def sites() -> ResponseReturnValue:
    rows = [
        (site, services().crawls.latest(site.id), services().content(site.id).counts()[0])
        for site in services().sites.all()
    ]
    return render_template("admin/sites.html", rows=rows)
