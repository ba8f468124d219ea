"""Quality: how well each site answers, by its test sets."""

from __future__ import annotations

from dataclasses import dataclass

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.page import Page
from server.domain.site import Site
from server.storage.quality_runs import QualityRun

page = Page(menu="Quality")


@dataclass(frozen=True, slots=True)
class Row:
    """One site on the list."""

    site: Site
    testsets: int
    run: QualityRun | None
    """The newest."""
    gate: bool
    held: bool


@page.get("/quality")
def quality() -> ResponseReturnValue:
    """Choose the site."""
    found = services()
    gates, held = found.gates.all(), found.gates.all_held()
    newest, counts = found.quality_runs.newest(), found.testsets.counts()
    rows = [
        Row(site, counts.get(site.id, 0), newest.get(site.id), site.id in gates, site.id in held)
        for site in found.sites.all()
    ]
    return render_template("admin/quality.html", rows=rows)
