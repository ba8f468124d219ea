"""What went wrong while visitors were served, and whether every part works now."""

from __future__ import annotations

import platform

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.filters import DAY_OPTIONS, chosen_days, chosen_site, site_options
from admin.incident_kinds import KINDS, kind_of
from admin.page import Page
from admin.part_states import part_states
from server.storage import schema
from server.version import version

page = Page(menu="Health")

SHOWN = 200


@page.get("/health")
def health() -> ResponseReturnValue:
    """Incidents of one `site` or of all, of one `kind` or any, of the last `days` or all that are kept."""
    sites, site_id = chosen_site()
    days, since = chosen_days()
    kinds = services().incidents.kinds(site_id or None, since)
    kind = request.args.get("kind", "")
    kind = kind if kind in KINDS or kind in kinds else ""
    incidents = [
        (incident, kind_of(incident.kind, incident.message))
        for incident in services().incidents.recent(site_id or None, SHOWN, since, kind)
    ]
    return render_template(
        "admin/health.html",
        parts=part_states(services()),
        versions=_versions(),
        queued=len(services().jobs),
        incidents=incidents,
        sites=sites,
        site_id=site_id,
        site_options=site_options(sites),
        days=days,
        day_options=DAY_OPTIONS,
        kind=kind,
        kind_options=[("", "Any"), *((name, kind_of(name).label) for name in sorted({*kinds, kind} - {""}))],
        times=kinds.get(kind, 0) if kind else sum(kinds.values()),
        shown=SHOWN,
    )


def _versions() -> list[tuple[str, str]]:
    """What somebody who helps will ask for first."""
    settings = services().settings
    return [
        ("Docent", version()),
        ("Schema of the database", schema.newest()),
        ("Database", services().database.dialect),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.machine()}"),
        ("Chat model", settings.chat_model_name if settings.uses_chat_model else "none"),
        ("Embedding model", settings.embedding_model or "all-MiniLM-L6-v2"),
    ]
