"""Asks people for their password or code again before a sensitive form, once every CONFIRM_MINUTES.

A page is guarded by `recent=True` where it or a page above it is made (see admin.page). All sections of the
settings are, through their first page. A new way to prove who you are adds its field to `ConfirmForm` and its
check to `confirm_identity`, or calls `mark_confirmed` from its own view.
"""

from datetime import timedelta

from flask import g, redirect, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, PasswordField, StringField

from admin.forms import Form, problem
from admin.page import Page
from admin.people.attempts import (
    failed,
    seconds_to_wait_for_code,
    seconds_to_wait_in_session,
    too_many_attempts,
)
from admin.people.passkeys import PasskeyRefused, signed_in, why_unusable
from admin.people.passwords import LONGEST, accepts_code, verify
from admin.people.sessions import came_from, is_script, safe_next
from admin.replies import note, script_error, unchanged
from admin.texts import _, lazy
from server.api.access import configuration, people_stores
from server.api.refusals import refused_access
from server.domain.roles import Role
from server.storage.columns import now

page = Page(role=Role.VIEWER)

PREFIX = "confirm-"
NOT_CONFIRMED = 403


class ConfirmForm(Form):
    """What proves who is at the browser. One of the fields is enough."""

    password = PasswordField(lazy("Your password"))
    code = StringField(lazy("Or a code from your app"))
    credential = HiddenField()


@page.post("/account/confirm", recent=True)
def account_confirm() -> ResponseReturnValue:
    """Only reached when the fields of `ConfirmForm` were right. Leads back to `next`."""
    unchanged()
    return redirect(safe_next(request.form.get("next")))


def is_recent() -> bool:
    """Whether the person at this browser proved who it is within CONFIRM_MINUTES."""
    at = g.operator_session.confirmed_at if g.operator_session else None
    minutes = configuration().settings.limits.confirm_minutes
    return at is not None and now() - at <= timedelta(minutes=minutes)


def mark_confirmed() -> None:
    """Record that the person at this browser has just proved who it is."""
    people_stores().sessions.confirm(g.operator_session.id)


def confirm_identity(form: ConfirmForm) -> bool:
    """Check the password or the code; the form says what is wrong. Rate-limited like a login."""
    if wait := seconds_to_wait_in_session(g.operator_session.id):
        problem(form, "password", too_many_attempts(wait))
        return False
    if form.credential.data:
        return _has_signed(form)
    password, code = (form.password.data or "")[:LONGEST], form.code.data or ""
    if password and verify(password, g.operator.password_hash):
        return True
    if code and g.operator.has_second_factor:
        if wait := seconds_to_wait_for_code(g.operator):
            problem(form, "code", too_many_attempts(wait))
            return False
        if accepts_code(g.operator, code):
            return True
        failed(g.operator.email, "wrong code")
        problem(form, "code", _("This code is wrong, or was used already. Nothing was changed."))
    else:
        failed(g.operator.email, "wrong password")
        problem(form, "password", _("This is not your password. Nothing was changed."))
    return False


def _has_signed(form: ConfirmForm) -> bool:
    try:
        signed_in(form.credential.data, g.operator)
    except PasskeyRefused as error:
        refused_access("wrong passkey", g.operator.email, says=str(error))
        problem(form, "password", str(error))
        return False
    return True


def require_recent_sign_in() -> ResponseReturnValue | None:
    """None if the proof is recent enough, or came with this request; otherwise the page that asks for it.

    That page holds what was typed, so that sending it does what the form was to do.
    """
    if is_recent():
        return None
    form = ConfirmForm(prefix=PREFIX)
    if any(name.startswith(PREFIX) for name in request.form) and confirm_identity(form):
        mark_confirmed()
        note(g.operator, "confirmed the sign-in")
        return None
    if is_script():
        message = "Load the page again and confirm that it is you."
        return script_error("confirm_needed", message, NOT_CONFIRMED)
    typed = [
        (name, value)
        for name, value in request.form.items(multi=True)
        if name != "csrf_token" and not name.startswith(PREFIX)
    ]
    has_passkey = g.operator.has_passkey and not why_unusable()
    here = f"{request.script_root}{request.full_path}".rstrip("?")
    return render_template(
        "admin/confirm.html",
        form=form,
        typed=typed,
        has_passkey=has_passkey,
        sign_on=configuration().settings.sign_on,
        shown=here if request.method == "GET" else came_from(),
    ), NOT_CONFIRMED
