"""Adds and removes the passkeys of the own account, and takes them as a proof of who it is."""

from collections.abc import Callable
from typing import Any

from flask import g, render_template, request
from flask.typing import ResponseReturnValue

from admin.forms import UNPROCESSABLE, Form, required
from admin.letters import tell
from admin.page import Page
from admin.people.attempts import seconds_to_wait, too_many_attempts
from admin.people.login import let_in
from admin.people.passkeys import (
    PasskeyRefused,
    register,
    registration_options,
    sign_in_options,
    signed_in,
    why_unusable,
)
from admin.people.passwords import new_recovery_codes
from admin.people.sessions import renew, safe_next, waiting_operator
from admin.replies import changed, done, refused, script_error, unchanged
from admin.texts import _, lazy
from server.api.access import people_stores
from server.api.refusals import refused_access
from server.domain.roles import Role
from server.storage.people.operators import Operator

page = Page(recent=True, role=Role.VIEWER)


class PasskeyForm(Form):
    """A new passkey."""

    name = required(
        lazy("Name"), lazy("Write a name, such as “Laptop” or “Blue security key”."),
        60, lazy("Write at most 60 characters."),
    )  # fmt: skip


@page.get("/account/passkeys/new", recent=True)
def account_passkey_new() -> ResponseReturnValue:
    return render_template("admin/passkey_new.html", form=PasskeyForm(formdata=None), unusable=why_unusable())


@page.post("/account/passkeys/options")
def account_passkey_options() -> ResponseReturnValue:
    """What the device is asked for, once it has a name."""
    unchanged()
    form = PasskeyForm()
    if not form.validate():
        return script_error("refused", form.name.errors[0], UNPROCESSABLE)
    return _options(lambda: registration_options(g.operator))


@page.post("/account/passkeys")
def account_passkey_add() -> ResponseReturnValue:
    """From now on a login with the password needs a second factor. Recovery codes are made with the first."""
    name, is_first = request.form.get("name", "").strip()[:60], not g.operator.has_second_factor
    try:
        register(g.operator, name or "Passkey", request.form.get("credential", ""))
    except PasskeyRefused as error:
        return refused(str(error), "account_passkey_new")
    changed("added a passkey", name=name)
    tell(g.operator.email, lazy("A passkey was added."))
    codes = new_recovery_codes()
    if is_first:
        people_stores().operators.set_recovery_codes(g.operator.id, codes)
    renew(g.operator)
    if is_first:
        return render_template("admin/recovery_codes.html", codes=codes)
    return done(
        _("The passkey “%(name)s” is added. Every other browser is logged out.", name=name), "account"
    )


@page.post("/account/passkeys/<passkey_id>/remove")
def account_passkey_remove(passkey_id: str) -> ResponseReturnValue:
    if not people_stores().passkeys.remove(g.operator.id, passkey_id):
        return refused(_("That passkey was removed already."), "account")
    changed("removed a passkey")
    tell(g.operator.email, lazy("A passkey was removed."))
    renew(g.operator)
    return done(_("The passkey is removed and no longer works."), "account")


confirm_page = Page(role=Role.VIEWER)


@confirm_page.post("/account/confirm/passkey/options")
def account_confirm_passkey_options() -> ResponseReturnValue:
    unchanged()
    return _options(lambda: sign_in_options(g.operator))


login_page = Page(public=True)


@login_page.post("/login/passkey/options")
def login_passkey_options() -> ResponseReturnValue:
    return _options(sign_in_options)


@login_page.post("/login/passkey")
def login_passkey() -> ResponseReturnValue:
    """Without a password: the device has checked who uses it, so no second factor is asked for."""
    return _let_in("login", None, request.form.get("next"))


@login_page.post("/login/code/passkey/options")
def login_code_passkey_options() -> ResponseReturnValue:
    waiting = waiting_operator()
    if waiting is None:
        return script_error("refused", _("That took too long. Write your password again."), UNPROCESSABLE)
    return _options(lambda: sign_in_options(waiting[0]))


@login_page.post("/login/code/passkey")
def login_code_passkey() -> ResponseReturnValue:
    waiting = waiting_operator()
    if waiting is None:
        return refused(_("That took too long. Write your password again."), "login")
    return _let_in("login_code", *waiting)


def _let_in(page_before: str, operator: Operator | None, target: str | None) -> ResponseReturnValue:
    if wait := seconds_to_wait():
        return refused(too_many_attempts(wait), page_before)
    try:
        found = signed_in(request.form.get("credential", ""), operator)
    except PasskeyRefused as error:
        whose = operator or people_stores().operators.get(error.operator_id or 0)
        refused_access("wrong passkey", whose.email if whose else "", says=str(error))
        return refused(str(error), page_before)
    return let_in(found, safe_next(target), how="passkey")


def _options(make: Callable[[], dict[str, Any]]) -> ResponseReturnValue:
    try:
        return make()
    except PasskeyRefused as error:
        return script_error("refused", str(error), UNPROCESSABLE)
