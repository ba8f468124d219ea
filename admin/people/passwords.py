"""Operators' passwords (argon2id with the first of OWASP's parameter sets) and the second factor: one-time
codes by time (RFC 6238), as authenticator apps make them."""

import io
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from time import time

import pyotp
import segno
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from flask import g
from wtforms import PasswordField, StringField
from wtforms.validators import DataRequired, EqualTo, Length, StopValidation

from admin.forms import Form, problem
from admin.people.attempts import failed, seconds_to_wait_in_session, too_many_attempts
from admin.texts import _, lazy
from server.api.access import configuration, people_stores
from server.storage.errors import SealBroken
from server.storage.people.operators import Operator

SHORTEST = 15
"""As NIST SP 800-63B-4 demands of passwords that are enough by themselves."""
LONGEST = 256
EASIEST = 1e8
"""A password that is guessed in fewer tries is refused."""
JUDGED_CHARS = 40
"""Judging longer ones can take seconds."""

# One lane and one pass: the library's default of four lanes takes both cores from visitors for its time.
_hasher = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)


_turns = BoundedSemaphore(2)
"""Each hash takes 46 MB and about 50 ms: strangers must not take all memory with them."""
TURN_S = 10.0


class TooManyHashes(Exception):
    """More passwords are checked at this moment than this process has memory for."""


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=TURN_S):
        raise TooManyHashes
    try:
        yield
    finally:
        _turns.release()


def hash_password(password: str) -> str:
    """Raises TooManyHashes."""
    with _turn():
        return _hasher.hash(password)


def verify(password: str, stored: str | None) -> bool:
    """Whether the password has this hash; takes as long when there is no hash to compare with.
    Raises TooManyHashes."""
    try:
        with _turn():
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


def chosen_password(label: str = lazy("Password")) -> PasswordField:
    """The password itself. Its form may name the `person` that it is for."""
    length = lazy("Choose a password of %(least)s to %(most)s characters.", least=SHORTEST, most=LONGEST)
    needed = DataRequired(lazy("Choose a password of %(least)s characters or more.", least=SHORTEST))
    return PasswordField(label, [needed, Length(SHORTEST, LONGEST, length), check_uncommon])


def check_uncommon(form: Form, field: PasswordField) -> None:
    """Refuse passwords that are leaked or common, alone or put together, and the person's own address.

    The lists are zxcvbn's: 30,000 passwords from leaks, 60,000 words and names. Nothing is requested.
    """
    from zxcvbn import zxcvbn  # 15 MB, which most processes never need

    person = getattr(form, "person", "").lower()
    found = zxcvbn(field.data[:JUDGED_CHARS], ["docent", person, *re.split(r"[@.]", person)])
    if found["guesses"] < EASIEST:
        raise StopValidation(
            _(
                "This password is easy to guess: it is on lists of leaked passwords, or is made from them. "
                "Choose several words that do not belong together."
            )
        )


def password_again(label: str = lazy("Password again"), *, of: str = "password") -> PasswordField:
    """The field that repeats a password; `of` names the field with the first."""
    differs = EqualTo(of, lazy("The two passwords differ. Type the same one twice."))
    return PasswordField(label, [DataRequired(lazy("Type the password again.")), differs])


class PasswordAgain(Form):
    """The own password."""

    current = PasswordField(lazy("Your password"), [DataRequired(lazy("Write your password."))])


def is_own_password(form: PasswordAgain) -> bool:
    """Check the operator's password; the form says what is wrong. Rate-limited like a login."""
    if wait := seconds_to_wait_in_session(g.operator_session.id):
        problem(form, "current", too_many_attempts(wait))
        return False
    if not verify((form.current.data or "")[:LONGEST], g.operator.password_hash):
        failed(g.operator.email, "wrong password")
        problem(form, "current", _("This is not your password. Nothing was changed."))
        return False
    return True


STEP_S = 30
TOLERATED = 1
"""Steps that a clock may go wrong, either way."""
BACKUP_CODES = 10
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class CodeForm(Form):
    """A code of the second factor."""

    code = StringField(lazy("Code"), [DataRequired(lazy("Write the six digits that your app shows."))])


def new_secret() -> str:
    """160 random bits, as apps read them."""
    return pyotp.random_base32()


def step_of(secret: str, code: str) -> int | None:
    """The time step that a code belongs to; None for a wrong one."""
    digits = "".join(code.split())
    if len(digits) != 6 or not (digits.isascii() and digits.isdigit()):
        return None
    totp, now = pyotp.TOTP(secret), int(time())
    steps = range(now // STEP_S - TOLERATED, now // STEP_S + TOLERATED + 1)
    # All of them are looked at, so that the time taken does not tell which one it was.
    fitting = [step for step in steps if secrets.compare_digest(totp.at(step * STEP_S), digits)]
    return max(fitting, default=None)


def address(secret: str, email: str) -> str:
    """What the picture says, for apps on the same device."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name="Docent")


def picture(text: str) -> str:
    """A QR code as an SVG element without any style of its own."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, svgns=True, omitsize=True, border=4, dark="#000", light="#fff",
        title="QR code for your authenticator app",
    )  # fmt: skip
    return out.getvalue().decode("utf-8")


def new_recovery_codes() -> list[str]:
    """Each opens once what a lost device would have opened; 50 random bits."""
    return [
        "-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in "ab")
        for _ in range(BACKUP_CODES)
    ]


def recovery_code(text: str) -> str:
    """As it is stored, however it was typed."""
    letters = "".join(letter for letter in text.lower() if letter in LETTERS)
    return f"{letters[:5]}-{letters[5:]}"


def accepts_code(operator: Operator, typed: str) -> bool:
    """Whether this is a code of the operator that was not used before: of the app, or a recovery code."""
    operators, secret = people_stores().operators, _totp_secret(operator)
    step = step_of(secret, typed) if secret else None
    if step is not None:
        return operators.use_step(operator.id, step)
    return operators.use_recovery_code(operator.id, recovery_code(typed))


def _totp_secret(operator: Operator) -> str:
    """Return the secret of the codes; empty if SECRET_KEY was changed, when only recovery codes open."""
    try:
        return configuration().seal.open(operator.totp_secret)
    except SealBroken:
        return ""
