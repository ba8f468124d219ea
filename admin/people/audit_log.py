"""Who changed what, and when."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.lists import chosen_days, listed
from admin.page import Page
from admin.replies import download
from admin.settings import settings as settings_page
from server.api.access import people_stores, stores
from server.domain.roles import Role
from server.storage.csv_file import written
from server.storage.people.audit import Change

page = Page(section="Audit log", under=settings_page.page)

ROWS = 50
COLUMNS = ("at", "operator", "action", "site", "details")


@page.get("/settings/audit", role=Role.OWNER)
def audit_log() -> ResponseReturnValue:
    """Filtered by `operator`, `site`, `action` and `days`; what is not known finds nothing."""
    wanted, days = _filters()
    people, actions = people_stores().audit.choices()
    sites = {site.id: site for site in stores().sites.all()}
    return render_template(
        "admin/audit_log.html",
        changes=listed(lambda limit, offset: people_stores().audit.recent(limit, offset, **wanted), ROWS),
        wanted=wanted,
        days=days,
        people=[("", "Everybody"), *((one, one) for one in people)],
        actions=[("", "Anything"), *((one, one.capitalize()) for one in actions)],
        sites=sites,
        is_filtered=any(wanted.values()),
        kept={
            name: request.args[name]
            for name in ("operator", "site", "action", "days")
            if name in request.args
        },
    )


@page.get("/settings/audit.csv", role=Role.OWNER)
def audit_csv() -> ResponseReturnValue:
    wanted, _ = _filters()
    changes = people_stores().audit.every(**wanted)
    return download(written(COLUMNS, map(_cells, changes)), "docent-audit.csv", "text/csv")


def _filters() -> tuple[dict[str, Any], int]:
    days, since = chosen_days()
    args = request.args
    wanted: dict[str, str | datetime | None] = {
        "site_id": args.get("site", "")[:100],
        "operator": args.get("operator", "")[:320],
        "action": args.get("action", "")[:300],
        "since": since,
    }
    return wanted, days


def _cells(one: Change) -> tuple[str, ...]:
    details = json.dumps(one.details, ensure_ascii=False)
    return (one.at.isoformat(timespec="seconds"), one.operator, one.action, one.site_id, details)
