"""What the pages' forms have in common."""

import re
from collections.abc import Iterable
from math import isfinite

from flask_wtf import FlaskForm
from wtforms import Field, FloatField, IntegerField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import StopValidation

from server.api.access import quality_stores

UNPROCESSABLE = 422


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Its token was checked before the view was called; see admin.blueprint."""


def problem(form: Form, field: str, message: str) -> None:
    """Add a message to a field, for what only the view can check."""
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


class WholeNumber(IntegerField):  # type: ignore[misc]  # WTForms has no types
    """From `least` to `most`, both included."""

    def __init__(self, label: str, *, least: int, most: int, **options: object) -> None:
        super().__init__(label, **options)
        self.least, self.most = least, most

    def process_formdata(self, valuelist: list[str]) -> None:
        """Raises ValueError with the sentence."""
        text = (valuelist[0] if valuelist else "").strip()
        if not (text.isascii() and text.isdigit() and self.least <= int(text[:12]) <= self.most):
            self.data = None
            raise ValueError(f"Write a whole number from {self.least:,} to {self.most:,}.")
        self.data = int(text)


class Decimal(FloatField):  # type: ignore[misc]  # as above
    """From `least` to `most`, both included; with a point or a comma."""

    def __init__(self, label: str, *, least: float, most: float, **options: object) -> None:
        super().__init__(label, **options)
        self.least, self.most = least, most

    def process_formdata(self, valuelist: list[str]) -> None:
        """Raises ValueError with the sentence."""
        text = (valuelist[0] if valuelist else "").strip().replace(",", ".")
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value) or not self.least <= value <= self.most:
            self.data = None
            raise ValueError(f"Write a number from {self.least:g} to {self.most:g}.")
        self.data = value

    def _value(self) -> str:
        return f"{self.data:g}" if self.data is not None else (self.raw_data or [""])[0]


def choices(pairs: Iterable[tuple[str, str]]) -> list[SelectChoice]:
    """(value, what is read)."""
    return [SelectChoice(value, text) for value, text in pairs]


def ready_testsets(site_id: str) -> list[SelectChoice]:
    """The test sets of a site that can be asked, with how many questions each has."""
    ready = (one for one in quality_stores().testsets.all(site_id) if one.is_ready)
    return choices((str(one.id), f"{one.name} ({one.count:,})") for one in ready)
