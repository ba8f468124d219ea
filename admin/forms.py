"""What the pages' forms have in common."""

from __future__ import annotations

import re

from flask_wtf import FlaskForm
from wtforms import Field
from wtforms.validators import StopValidation

UNPROCESSABLE = 422


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Its token was checked before the view was called; see admin.blueprint."""


def problem(form: Form, field: str, message: str) -> None:
    """Puts a message beside a field, for what only the view can find out."""
    target = getattr(form, field)
    target.errors = [*target.errors, message]


class Needed:
    """Refuses an empty field with a sentence that says what belongs in it."""

    def __init__(self, message: str) -> None:
        self.message = message
        # Makes the field say `required` to the browser and to screen readers.
        self.field_flags = {"required": True}

    def __call__(self, form: Form, field: Field) -> None:
        if not (field.data or "").strip():
            raise StopValidation(self.message)


def check_email(form: Form, field: Field) -> None:
    """An address with a name, an @ and a host. Whether it receives mail is not asked."""
    text = (field.data or "").strip()
    if len(text) > 254 or not re.fullmatch(r"[^\s@<>()]+@[^\s@<>()]+", text):
        raise StopValidation("Write a whole e-mail address, such as name@example.com.")
