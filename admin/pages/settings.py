"""Settings of the installation: where they are, and what was changed."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import changed, unchanged
from admin.page import Page
from admin.redirects import safe_next
from admin.setting_fields import LABELS, sentence_of
from server.changeable_settings import CHANGEABLE, WrongSetting, shown
from server.domain.roles import Role

page = Page(menu="Settings", section="Overview")


@page.get("/settings", role=Role.OWNER)
def settings() -> ResponseReturnValue:
    """Every changed setting on one page, with who changed it."""
    live = services().live
    overrides = live.overrides
    return render_template(
        "admin/settings.html",
        overrides=[
            (
                one,
                LABELS.get(name, name),
                shown(name, live.current) if name in CHANGEABLE else "",
                PLACES.get(name),
            )
            for name, one in overrides.items()
        ],
        problems=live.problems,
        operators=services().operators.all(),
        keys=[key for key in services().api_keys.all() if key.on and not key.is_over],
        hooks=services().webhooks.all(),
        changes=services().audit.recent(8),
        settings=live.current,
    )


@page.post("/settings/back", role=Role.OWNER)
def settings_back() -> ResponseReturnValue:
    """Lets the value with which Docent was started hold again."""
    name = request.form.get("back", "")
    override = services().live.overrides.get(name)
    if override is None:
        unchanged()
        flash("That setting was not changed here.", "problem")
    else:
        try:
            services().live.take_back({name})
        except WrongSetting as error:
            unchanged()
            flash(f"It was not taken back: {sentence_of(error)}", "problem")
        else:
            changed("took a setting back", setting=name.upper())
            flash(f"{LABELS.get(name, name)} is as it was at the start.", "done")
    endpoint = PLACES.get(name, "settings")
    return redirect(safe_next(url_for(f"admin.{endpoint}")))


PLACES: dict[str, str] = {}
"""Endpoint of the page where a setting is changed; each page enters its own."""
