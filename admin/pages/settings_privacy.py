"""What is kept of visitors and for how long, and what new sites tell them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flask import redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.pages import settings as settings_page
from admin.setting_fields import fields_of, save, typed_values
from server.changeable_settings import GROUPS
from server.domain.roles import Role
from server.domain.visiting import Consent
from server.storage.retention import Retention

page = Page(section="Privacy", under=settings_page.page)
NAMES = (*GROUPS["retention"], *GROUPS["texts"])
settings_page.PLACES.update(dict.fromkeys(NAMES, "settings_privacy"))
EXAMPLES = (30, 90, 180, 365)


@page.get("/settings/privacy", role=Role.OWNER)
def settings_privacy() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/privacy", role=Role.OWNER)
def settings_privacy_save() -> ResponseReturnValue:
    typed = typed_values(NAMES)
    if wrong := save(NAMES):
        return _shown(typed, wrong), UNPROCESSABLE
    return redirect(url_for("admin.settings_privacy"))


def _shown(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    """With how many conversations would go for some choices: a number that is seen is chosen with care."""
    days, now = services().settings.conversation_days, datetime.now(UTC)
    retention = Retention(services().database)
    choices = sorted({*EXAMPLES, *([days] if days else [])})
    return render_template(
        "admin/settings_privacy.html",
        **{name: fields_of(GROUPS[name], typed, errors) for name in ("retention", "texts")},
        general=(errors or {}).get("", ""),
        days=days,
        counts=[(choice, retention.count(now - timedelta(days=choice))) for choice in choices],
        sites=[(site, Consent.of(site.options)) for site in services().sites.all()[:100]],
    )
