"""Asking for the own password again, before what must not be done by who finds an open browser."""

from __future__ import annotations

from flask import g
from wtforms import PasswordField

from admin.forms import Form, Needed, problem
from admin.passwords import LONGEST, verify
from admin.throttle import seconds_to_wait


class PasswordAgain(Form):
    """The own password."""

    current = PasswordField("Your password", [Needed("Write your password.")])


def is_own_password(form: PasswordAgain) -> bool:
    """Whether it is; else the form says what is wrong. Throttled like a login."""
    if wait := seconds_to_wait(g.operator.email):
        problem(form, "current", f"Too many attempts. Try again in {wait} s.")
        return False
    if not verify((form.current.data or "")[:LONGEST], g.operator.password_hash):
        problem(form, "current", "This is not your password. Nothing was changed.")
        return False
    return True
