"""Which models are asked: tried with what is typed before it is saved."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import unchanged
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.pages import settings as settings_page
from admin.setting_fields import fields_of, save, sentence_of, typed_values
from server.changeable_settings import GROUPS, MODELS, WrongSetting
from server.domain.protocols import ModelError
from server.domain.roles import Role
from server.services.model_trials import Trial, offered_models, try_models
from server.settings import Settings

page = Page(section="Models", under=settings_page.page)
settings_page.PLACES.update(dict.fromkeys(MODELS, "settings_models"))

REINDEX = "Tick that every site is read again: vectors of another embedding model do not fit."


@page.get("/settings/models", role=Role.OWNER)
def settings_models() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/models", role=Role.OWNER)
def settings_models_save() -> ResponseReturnValue:
    """Another embedding model needs every site to be read again, and that it is wanted."""
    values = typed_values(MODELS)
    try:
        after = services().live.tried(values)
    except WrongSetting as error:
        return _shown(values, {error.name: sentence_of(error)}), UNPROCESSABLE
    reindex = _fingerprint(after) != _fingerprint(services().live.current)
    if reindex and "reindex" not in request.form:
        return _shown(values, {"embedding_model": REINDEX}, reindex=True), UNPROCESSABLE
    if wrong := save(MODELS):
        return _shown(values, wrong), UNPROCESSABLE
    if reindex:
        sites = [site for site in services().sites.all() if site.generation]
        for site in sites:
            services().start_crawl(site.id)
        flash(f"{len(sites)} sites are read again, so that their vectors fit the new model.", "done")
    return redirect(url_for("admin.settings_models"))


@page.post("/settings/models/test", role=Role.OWNER)
def settings_models_test() -> ResponseReturnValue:
    """Asks each model one tiny question. Nothing is saved."""
    unchanged()
    values = typed_values(MODELS)
    try:
        wanted = services().live.tried(values)
    except WrongSetting as error:
        return _shown(values, {error.name: sentence_of(error)}), UNPROCESSABLE
    trials = try_models(wanted, services().folder)
    return _shown(values, trials=trials, offered=_offered(wanted), unsaved=bool(values))


def _offered(settings: Settings) -> list[str]:
    if not (settings.openai_api_key or settings.openai_base_url):
        return []
    try:
        return offered_models(settings.openai_api_key, settings.openai_base_url)
    except ModelError:
        return []  # the trial says what is wrong


def _fingerprint(settings: Settings) -> tuple[str, str]:
    """What vectors depend on."""
    if not settings.embedding_model:
        return "", ""
    return settings.embedding_model, settings.openai_base_url


def _shown(
    typed: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
    *,
    trials: list[Trial] | None = None,
    offered: list[str] | None = None,
    unsaved: bool = False,
    reindex: bool = False,
) -> str:
    return render_template(
        "admin/settings_models.html",
        **{name: fields_of(GROUPS[name], typed, errors) for name in ("chat", "embedding", "rerank", "calls")},
        general=(errors or {}).get("", ""),
        trials=trials,
        offered=offered or [],
        unsaved=unsaved,
        reindex=reindex,
        uses_model=services().settings.uses_chat_model,
    )
