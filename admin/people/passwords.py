"""Operators' passwords: argon2id with the first of the parameter sets that OWASP recommends."""

import math
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from flask import g, request
from wtforms import PasswordField
from wtforms.validators import EqualTo, Length

from admin.forms import Form, Needed, problem
from server.api.access import configuration, shared

SHORTEST = 12
LONGEST = 256

# One lane and one pass: the library's default of four lanes takes both cores from visitors for its time.
_hasher = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def verify(password: str, stored: str | None) -> bool:
    """Whether the password has this hash; takes as long when there is no hash to compare with."""
    try:
        _hasher.verify(stored or _nobody(), password)
    except (VerifyMismatchError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with weaker parameters than today's."""
    return _hasher.check_needs_rehash(stored)


@cache
def _nobody() -> str:
    return _hasher.hash("no operator has this password")


def chosen_password(label: str = "Password") -> PasswordField:
    """The password itself."""
    length = f"Choose a password of {SHORTEST} to {LONGEST} characters."
    needed = Needed(f"Choose a password of {SHORTEST} characters or more.")
    return PasswordField(label, [needed, Length(SHORTEST, LONGEST, length)])


def password_again(label: str = "Password again", *, of: str = "password") -> PasswordField:
    """The field that repeats a password; `of` names the field with the first."""
    differs = EqualTo(of, "The two passwords differ: write the same one twice.")
    return PasswordField(label, [Needed("Write the password once more."), differs])


def seconds_to_wait(account: str = "") -> int:
    """Counts this attempt; 0 when it may go on, else the seconds until the next one may."""
    rule = configuration().settings.limits.login_limit
    keys = [f"login-address:{request.remote_addr}"]
    if account:
        # The same for accounts that do not exist: the limit must not tell which ones do.
        keys.append(f"login-account:{account.strip().casefold()[:320]}")
    return math.ceil(max(shared().limits.hit(rule, key) for key in keys))


CODES = "20/hour"
"""A code has a million values, of which three count: at this pace a guess takes years."""


def seconds_to_wait_for_code(operator_id: int) -> int:
    """Count an attempt at the second factor of an operator whose password was right."""
    return math.ceil(shared().limits.hit(CODES, f"login-code:{operator_id}"))


class PasswordAgain(Form):
    """The own password."""

    current = PasswordField("Your password", [Needed("Write your password.")])


def is_own_password(form: PasswordAgain) -> bool:
    """Check the operator's password; the form says what is wrong. Rate-limited like a login."""
    if wait := seconds_to_wait(g.operator.email):
        problem(form, "current", f"Too many attempts. Try again in {wait} s.")
        return False
    if not verify((form.current.data or "")[:LONGEST], g.operator.password_hash):
        problem(form, "current", "This is not your password. Nothing was changed.")
        return False
    return True
