"""What models may take in a day, and what they took today; and how often visitors may ask."""

from __future__ import annotations

from flask import redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.pages import settings as settings_page
from admin.setting_fields import fields_of, save, typed_values
from server.changeable_settings import GROUPS
from server.domain.roles import Role
from server.domain.spending import Used
from server.services.models import spent_today
from server.services.sites import daily_limit

page = Page(section="Budgets", under=settings_page.page)
NAMES = (*GROUPS["budgets"], *GROUPS["visitors"], *GROUPS["access"], *GROUPS["answers"])
settings_page.PLACES.update(dict.fromkeys(NAMES, "settings_budgets"))


@page.get("/settings/budgets", role=Role.OWNER)
def settings_budgets() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/budgets", role=Role.OWNER)
def settings_budgets_save() -> ResponseReturnValue:
    typed = typed_values(NAMES)
    if wrong := save(NAMES):
        return _shown(typed, wrong), UNPROCESSABLE
    return redirect(url_for("admin.settings_budgets"))


def _shown(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    settings = services().settings
    used = services().usage.today_by_site()
    sites = [
        (site, used.get(site.id, Used()), daily_limit(site, settings)) for site in services().sites.all()
    ]
    return render_template(
        "admin/settings_budgets.html",
        **{
            name: fields_of(GROUPS[name], typed, errors)
            for name in ("budgets", "visitors", "access", "answers")
        },
        general=(errors or {}).get("", ""),
        sites=sorted(sites, key=lambda row: -row[1].tokens)[:100],
        total=sum((one.tokens for one in used.values()), 0),
        cost=sum((one.cost for one in used.values()), 0.0),
        counted=spent_today(settings, services().cache),
        limit=settings.model_daily_tokens,
    )
