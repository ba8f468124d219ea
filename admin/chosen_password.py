"""The fields of a form in which a password is chosen."""

from __future__ import annotations

from wtforms import PasswordField
from wtforms.validators import EqualTo, Length

from admin.forms import Needed
from admin.passwords import LONGEST, SHORTEST


def chosen_password(label: str = "Password") -> PasswordField:
    """The password itself."""
    length = f"Choose a password of {SHORTEST} to {LONGEST} characters."
    needed = Needed(f"Choose a password of {SHORTEST} characters or more.")
    return PasswordField(label, [needed, Length(SHORTEST, LONGEST, length)])


def password_again(label: str = "Password again", *, of: str = "password") -> PasswordField:
    """The same once more; `of` names the field with the first."""
    differs = EqualTo(of, "The two passwords differ: write the same one twice.")
    return PasswordField(label, [Needed("Write the password once more."), differs])
