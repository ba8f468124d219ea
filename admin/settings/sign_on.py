"""Settings of single sign-on, with a test of the provider."""

from flask import flash, render_template
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.people.sign_on import callback_address, client_of
from admin.replies import unchanged
from admin.settings import settings as settings_page
from admin.settings.fields import form_fields, saved, sentence_of, typed_values
from admin.texts import _, lazy
from server.api.access import configuration
from server.domain.roles import Role
from server.guards.openid import SignOnRefused
from server.settings.changes import WrongSetting, in_forms

page = Page(section=lazy("Single sign-on"), under=settings_page.page)
SIGN_ON = ("sign_on",)
settings_page.PLACES.update(dict.fromkeys(in_forms(*SIGN_ON), "settings_sign_on"))


@page.get("/settings/sign-on", role=Role.OWNER)
def settings_sign_on() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/sign-on", role=Role.OWNER)
def settings_sign_on_save() -> ResponseReturnValue:
    return saved(SIGN_ON, _shown, "settings_sign_on")


@page.post("/settings/sign-on/test", role=Role.OWNER)
def settings_sign_on_test() -> ResponseReturnValue:
    """Reads the discovery document of the typed issuer. Sends no secret, saves nothing."""
    unchanged()
    typed = typed_values(in_forms(*SIGN_ON))
    try:
        client_of(configuration().live.tried(typed)).discover()
    except WrongSetting as error:
        return _shown(typed, {error.name: sentence_of(error)}), UNPROCESSABLE
    except SignOnRefused as error:
        return _shown(typed, {"oidc_issuer": str(error)}), UNPROCESSABLE
    flash(_("The provider answers. To test the rest, save and log in with another browser."), "done")
    return _shown(typed)


def _shown(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> str:
    settings = configuration().settings
    return render_template(
        "admin/settings_sign_on.html",
        **form_fields(SIGN_ON, typed, errors),
        save="settings_sign_on_save",
        is_on=bool(settings.sign_on.issuer),
        callback=callback_address(settings),
    )
