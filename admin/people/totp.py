"""The second factor: one-time codes by time (RFC 6238), as authenticator apps make them."""

import io
import secrets
from time import time

import pyotp
import segno

from server.storage.people.operators import Operator, OperatorStore

STEP_S = 30
TOLERATED = 1
"""Steps that a clock may go wrong, either way."""
CODES = 10
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def new_secret() -> str:
    """160 random bits, as apps read them."""
    return pyotp.random_base32()


def step_of(secret: str, code: str, at: float | None = None) -> int | None:
    """The time step that a code belongs to; None for a wrong one."""
    digits = "".join(code.split())
    if len(digits) != 6 or not (digits.isascii() and digits.isdigit()):
        return None
    totp, now = pyotp.TOTP(secret), int(time() if at is None else at)
    steps = range(now // STEP_S - TOLERATED, now // STEP_S + TOLERATED + 1)
    # All of them are looked at, so that the time taken does not tell which one it was.
    fitting = [step for step in steps if secrets.compare_digest(totp.at(step * STEP_S), digits)]
    return max(fitting, default=None)


def address(secret: str, email: str, issuer: str) -> str:
    """What the picture says, for apps on the same device."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=issuer)


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
    return ["-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in "ab") for _ in range(CODES)]


def recovery_code(text: str) -> str:
    """As it is stored, however it was typed."""
    letters = "".join(letter for letter in text.lower() if letter in LETTERS)
    return f"{letters[:5]}-{letters[5:]}"


def accepts(store: OperatorStore, operator: Operator, secret: str, typed: str) -> bool:
    """Whether this is a code of the operator that was not used before: of the app, or a recovery code.

    An empty `secret`, one that cannot be opened any more, leaves the recovery codes."""
    step = step_of(secret, typed) if secret else None
    if step is not None:
        return store.use_step(operator.id, step)
    return store.use_recovery_code(operator.id, recovery_code(typed))
