"""The last step, which is optional: a model that writes the answers, tried, and compared with quotations."""

from __future__ import annotations

from flask import flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import sentence
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.replies import changed, progress, unchanged
from admin.settings.fields import fields_of, save, sentence_of, typed_values
from admin.settings.models import try_models
from admin.sites import sites as sites_page
from admin.start import questions
from admin.start import walk as walks
from admin.texts import _, lazy
from server.api.access import configuration
from server.domain.roles import Role
from server.domain.site import Site
from server.guards.network import with_hosts_of
from server.settings.changes import WrongSetting

page = Page(under=sites_page.page, role=Role.OWNER)
NAMES = ("openai_base_url", "openai_api_key", "chat_model")
PRIVATE = "private"
"""The tick that permits a model on this machine or in a private network."""
ADVICE = {
    "unreachable": lazy(
        "Nothing can be reached at this address. Check that the model runs there. If it is on this "
        "machine or in your network, tick the box below."
    ),
    "wrong_key": lazy("The provider does not accept this key. Copy it again from your provider's page."),
    "wrong_model": lazy(
        "There is no model of this name at this address. Choose one that your provider offers."
    ),
    "bad_reply": lazy("This address is not the API of a model. Most of them end in /v1."),
}
"""Kind of a failed trial -> what to do; the others say it themselves."""
PLACE = {"wrong_key": "openai_api_key", "wrong_model": "chat_model"}
"""Kind of a failed trial -> the field to change; the others are about the address."""


@page.get("/sites/<site_id>/start/model")
def start_model(site: Site) -> ResponseReturnValue:
    return _shown(site)


@page.get("/sites/<site_id>/start/model/progress")
def start_model_progress(site: Site) -> ResponseReturnValue:
    """The answers as they come; polled by progress.js."""
    return progress("admin/_start_questions.html", **questions.results(site, compared=True))


@page.post("/sites/<site_id>/start/model", recent=True)
def start_model_save(site: Site) -> ResponseReturnValue:
    """Tries what is typed, and saves it only if the model answers."""
    typed = typed_values(NAMES)
    live, hosts = configuration().live, {}
    if PRIVATE in request.form:
        hosts = {"private_hosts": with_hosts_of(live.current, [request.form.get(NAMES[0], "").strip()])}
    try:
        wanted = live.tried({**typed, **hosts})
    except WrongSetting as error:
        unchanged()
        return _shown(site, typed, {error.name or NAMES[0]: sentence_of(error)}), UNPROCESSABLE
    if not wanted.models.uses_chat_model:
        unchanged()
        missing = _("Write the key of your provider, or the address of a model on your own machine.")
        return _shown(site, typed, {NAMES[0]: missing}), UNPROCESSABLE
    trial = try_models(wanted)[0]
    if not trial.is_well:
        unchanged()
        said = str(ADVICE.get(trial.kind) or f"{sentence(trial.says)} {trial.advice}")
        return _shown(site, typed, {PLACE.get(trial.kind, NAMES[0]): said}), UNPROCESSABLE
    if hosts and hosts["private_hosts"] != ",".join(live.current.serving.private_host_texts):
        live.change(hosts, g.operator.email)
        changed("permitted the host of the model", hosts=hosts["private_hosts"])
    if wrong := save(NAMES):
        return _shown(site, typed, wrong), UNPROCESSABLE
    walks.mark(site.id, walks.MODEL)
    return redirect(url_for("admin.start_model", site_id=site.id))


@page.post("/sites/<site_id>/start/model/compare")
def start_model_compare(site: Site) -> ResponseReturnValue:
    """Asks the first questions again: quoted, and written by the model."""
    unchanged()
    if problem := questions.ask_all(site, compared=True):
        flash(problem, "problem")
        return _shown(site), UNPROCESSABLE
    return redirect(url_for("admin.start_model", site_id=site.id, _anchor="compare"))


def _shown(site: Site, typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    settings = configuration().settings.models
    return render_template(
        "admin/start_model.html",
        fields=dict(zip(NAMES, fields_of(NAMES, typed, errors), strict=True)),
        private=PRIVATE in request.form,
        model=settings.chat_model_name if settings.uses_chat_model else "",
        walk=walks.walk_of(site, walks.MODEL),
        **questions.results(site, compared=True),
    )
