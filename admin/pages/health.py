"""What went wrong while visitors were served, and whether every part works now."""

from __future__ import annotations

from flask import render_template
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.filters import DAY_OPTIONS, chosen_days, chosen_site, site_options
from admin.incident_kinds import kind_of
from admin.page import Page
from admin.part_states import part_states

page = Page(menu="Health")

SHOWN = 200


@page.get("/health")
def health() -> ResponseReturnValue:
    """Incidents of one `site` or of all, of the last `days` or all that are kept."""
    sites, site_id = chosen_site()
    days, since = chosen_days()
    incidents = [
        (incident, kind_of(incident.kind, incident.message))
        for incident in services().incidents.recent(site_id or None, SHOWN)
        if since is None or incident.at >= since
    ]
    return render_template(
        "admin/health.html",
        parts=part_states(services()),
        incidents=incidents,
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        days=days,
        day_options=DAY_OPTIONS,
        shown=SHOWN,
    )
