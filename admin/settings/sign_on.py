"""Settings of single sign-on, with a test of the provider."""

from flask import flash
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.people.sign_on import callback_address, client_of
from admin.settings import settings as settings_page
from admin.settings.fields import Section
from admin.texts import _, lazy
from server.api.access import configuration
from server.guards.openid import SignOnRefused
from server.settings import Settings

page = Page(section=lazy("Single sign-on"), under=settings_page.page)


def _shown() -> dict[str, object]:
    settings = configuration().settings
    return {"is_on": bool(settings.sign_on.issuer), "callback": callback_address(settings)}


section = Section(page, "sign_on", "sign-on", ["sign_on"], _shown).saves()


@section.tests
def settings_sign_on_test(wanted: Settings, typed: dict[str, str]) -> ResponseReturnValue:
    """Reads the discovery document of the typed issuer. Sends no secret."""
    try:
        client_of(wanted).discover()
    except SignOnRefused as error:
        return section.show(typed, {"oidc_issuer": str(error)}), UNPROCESSABLE
    flash(_("The provider answers. To test the rest, save and log in with another browser."), "done")
    return section.show(typed)
