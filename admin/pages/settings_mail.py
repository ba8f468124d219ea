"""The mail server, tried with a letter to oneself."""

from __future__ import annotations

from flask import flash, g, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from admin.access import services
from admin.audit import unchanged
from admin.forms import UNPROCESSABLE
from admin.letters import send
from admin.page import Page
from admin.pages import settings as settings_page
from admin.setting_fields import fields_of, save, sentence_of, typed_values
from server.changeable_settings import GROUPS, WrongSetting
from server.contact.errors import NotDelivered
from server.domain.contact import ContactOptions
from server.domain.roles import Role

page = Page(section="Mail", under=settings_page.page)
NAMES = (*GROUPS["mail"], *GROUPS["sending"])
settings_page.PLACES.update(dict.fromkeys(NAMES, "settings_mail"))

SUBJECT = "A test of Docent's mail server"
TEXT = """This is the test message that you asked for on the dashboard of Docent at {base}.

It arrived, so messages of visitors and invitations arrive too.
"""


@page.get("/settings/mail", role=Role.OWNER)
def settings_mail() -> ResponseReturnValue:
    return _shown()


@page.post("/settings/mail", role=Role.OWNER)
def settings_mail_save() -> ResponseReturnValue:
    typed = typed_values(NAMES)
    if wrong := save(NAMES):
        return _shown(typed, wrong), UNPROCESSABLE
    return redirect(url_for("admin.settings_mail"))


@page.post("/settings/mail/test", role=Role.OWNER)
def settings_mail_test() -> ResponseReturnValue:
    """Sends a letter with what is typed to the operator's own address, and to no other. Saves nothing."""
    unchanged()
    typed = typed_values(NAMES)
    try:
        wanted = services().live.tried(typed)
    except WrongSetting as error:
        return _shown(typed, {error.name: sentence_of(error)}), UNPROCESSABLE
    if not wanted.smtp_url:
        return _shown(typed, {"smtp_url": "Write the address of your mail server first."}), UNPROCESSABLE
    try:
        said = send(wanted, g.operator.email, SUBJECT, TEXT.format(base=wanted.base_url))
    except NotDelivered as error:
        return _shown(typed, {"smtp_url": f"{error}."}), UNPROCESSABLE
    flash(f"A test message is on its way to {g.operator.email}: {said}.", "done")
    return _shown(typed, unsaved=bool(typed))


def _shown(
    typed: dict[str, str] | None = None, errors: dict[str, str] | None = None, *, unsaved: bool = False
) -> str:
    return render_template(
        "admin/settings_mail.html",
        **{name: fields_of(GROUPS[name], typed, errors) for name in ("mail", "sending")},
        general=(errors or {}).get("", ""),
        unsaved=unsaved,
        wanting=[site for site in services().sites.all() if ContactOptions.of(site.options).email],
        is_set=bool(services().settings.smtp_url),
    )
