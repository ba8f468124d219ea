"""What the pages' forms have in common, and addresses as an operator types them."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import socket
from collections.abc import Iterable
from math import isfinite
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit, urlunsplit

from flask import flash
from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    Field,
    FloatField,
    HiddenField,
    IntegerField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.fields.core import UnboundField
from wtforms.validators import DataRequired, Length, StopValidation

from admin.formats import number
from admin.stored import translated
from admin.texts import _, lazy
from crawler.errors import FetchError, Refused
from server.api.access import configuration
from server.domain.addresses import origin_of
from server.guards.network import for_webhooks

UNPROCESSABLE = 422
CONFLICT = 409
"""Somebody else was faster."""


class Form(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Its token was checked before the view was called; see admin.blueprint."""

    person = ""
    """E-mail address of the person that a password is chosen for."""

    class Meta(FlaskForm.Meta):  # type: ignore[misc]  # as above
        """Lines end as they do everywhere else; browsers send them with two characters."""

        def bind_field(self, form: Form, unbound_field: UnboundField, options: dict[str, Any]) -> Field:
            filters = (*unbound_field.kwargs.get("filters", ()), _one_line_end)
            return unbound_field.bind(form=form, **{**options, "filters": filters})


def _one_line_end(value: object) -> object:
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


class SharedForm(Form):
    """A form that several people may have open: the one who saves later reads what was saved meanwhile."""

    opened = HiddenField()
    """What was stored when the form was shown, as a hash; empty where nothing was."""

    def noted(self) -> Self:
        """Remember what is stored now, which this form is filled with. Return the form."""
        self.opened.data = self._hash()
        return self

    def is_overtaken(self, stored: SharedForm) -> bool:
        """Whether other values were stored since the form was shown. Then a message names them, and sending
        the form again replaces them."""
        if self.opened.data in ("", None, stored._hash()):
            return False
        pairs = zip(self._own_fields(), stored._own_fields(), strict=True)
        differing = [now for typed, now in pairs if _said(typed) != _said(now)]
        if differing:
            self.opened.data = stored._hash()
            now = "; ".join(
                f"{field.label.text}: “{_said(field)[:SAID_CHARS] or '–'}”" for field in differing
            )
            said = _(
                "This was changed while you were editing it, so yours is not saved yet. "
                "Save again to replace what is stored now. %(now)s",
                now=now,
            )
            flash(said, "problem")
        return bool(differing)

    def _hash(self) -> str:
        values = json.dumps([str(field.data) for field in self._own_fields()])
        return hashlib.sha256(values.encode()).hexdigest()[:16]

    def _own_fields(self) -> list[Field]:
        return [field for field in self if not isinstance(field, HiddenField)]


SAID_CHARS = 300
"""Characters of a stored value that a message quotes."""


def _said(field: Field) -> str:
    """What a field holds, as people read it."""
    value = field.data
    if isinstance(field, SelectField):
        return str(next((choice.label for choice in field.choices if choice.value == value), value or ""))
    if isinstance(field, BooleanField):
        return _("yes") if value else _("no")
    lines = value if isinstance(value, tuple) else str("" if value is None else value).strip().splitlines()
    return "\n".join(lines)


def problem(form: Form, field: str, message: str) -> None:
    """Add a message to a field, for what only the view can check."""
    target = getattr(form, field)
    target.errors = [*target.errors, message]


def required(
    label: str, missing: str, most: int, too_long: str, kind: type[Field] = StringField, **options: object
) -> Field:
    """A text that must be there and not be longer than `most` characters, with what is said otherwise."""
    return kind(label, [DataRequired(missing), Length(max=most, message=too_long)], **options)


def at_most(most: int) -> Length:
    """A validator of the length of a text."""
    return Length(max=most, message=lazy("The limit is %(most)s characters.", most=most))


NAME_LENGTH = Length(max=100, message=lazy("Choose a name of at most 100 characters."))
"""A validator of what an operator calls something."""


def check_email(form: Form, field: Field) -> None:
    """An address with a name, an @ and a host. Whether it receives mail is not asked."""
    text = (field.data or "").strip()
    if len(text) > 254 or not re.fullmatch(r"[^\s@<>()]+@[^\s@<>()]+", text):
        raise StopValidation(_("Write a whole e-mail address, such as name@example.com."))


def check_address(form: Form, field: Field) -> None:
    """The address of a page; completes it."""
    try:
        field.data = parse_address(field.data or "")
    except BadAddress as error:
        raise StopValidation(str(error)) from error


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
            limits = {"least": number(self.least), "most": number(self.most)}
            raise ValueError(_("Write a whole number from %(least)s to %(most)s.", **limits))
        self.data = int(text)


class Number(FloatField):  # type: ignore[misc]  # as above
    """With a point or a comma."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Raises ValueError with the sentence."""
        super().process_formdata([text.replace(",", ".") for text in valuelist])


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
            limits = {"least": number(self.least), "most": number(self.most)}
            raise ValueError(_("Write a number from %(least)s to %(most)s.", **limits))
        self.data = value

    def _value(self) -> str:
        return f"{self.data:g}" if self.data is not None else (self.raw_data or [""])[0]


class Lines(TextAreaField):  # type: ignore[misc]  # as above
    """A tuple of lines: each once, without the space around it."""

    def process_formdata(self, valuelist: list[str]) -> None:
        lines = (line.strip() for line in (valuelist or [""])[0].splitlines())
        self.data = tuple(dict.fromkeys(filter(None, lines)))

    def _value(self) -> str:
        return str(self.raw_data[0]) if self.raw_data else "\n".join(self.data or ())


def choices(pairs: Iterable[tuple[str, str]]) -> list[SelectChoice]:
    """(value, what is read)."""
    return [SelectChoice(value, text) for value, text in pairs]


PRIVATE_NAMES = ("localhost", "local", "internal", "home.arpa")


class BadAddress(ValueError):
    """One sentence that says what is wrong and what to write instead."""


def parse_address(text: str) -> str:
    """The address of a site, complete: `example.com` becomes `https://example.com/`. Raises BadAddress."""
    text = text.strip()
    if not re.match(r"^[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        text = f"https://{text}"
    parts = _split(text)
    if parts.username or parts.password:
        raise BadAddress(_("Leave out the user name and password: Docent reads what every visitor can read."))
    netloc = urlsplit(origin_of(text)).netloc
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def parse_origin(text: str) -> str:
    """An origin without path and default port: `https://Example.com:443/` becomes `https://example.com`."""
    text = text.strip()
    if "://" not in text:
        names = {"typed": f"{text!r}", "address": text}
        said = _("%(typed)s needs http:// or https:// in front, such as https://%(address)s.", **names)
        raise BadAddress(said)
    parts = _split(text)
    if parts.username or parts.password or parts.path not in ("", "/") or parts.query or parts.fragment:
        names = {"typed": f"{text!r}", "origin": origin_of(text)}
        raise BadAddress(_("%(typed)s is more than an origin; write %(origin)s.", **names))
    return origin_of(text)


def permitted_webhook(address: str) -> str:
    """The address of another system, if Docent may send to it. Raises BadAddress."""
    try:
        for_webhooks(configuration().settings).check(address)
    except Refused as error:
        said = _("Docent does not send to this address: %(reason)s.", reason=translated(str(error)))
        permit = _("To permit it, turn on “Webhooks to private networks” under Settings, Mail.")
        raise BadAddress(f"{said} {permit}" if error.can_be_allowed else said) from None
    except FetchError:
        pass  # the log of deliveries says that the name is unknown
    return address


def is_private(address: str) -> bool:
    """Whether the host, as written, is this machine or a private network. Asks no name server."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    if any(host == name or host.endswith(f".{name}") for name in PRIVATE_NAMES):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        pass
    try:
        # Short and hexadecimal forms, such as 127.1, that sockets understand too.
        return not ipaddress.ip_address(socket.inet_aton(host)).is_global
    except (OSError, UnicodeEncodeError):
        return False


def suggest_id(address: str, taken: set[str]) -> str:
    """A short readable id for the site at this address that is not taken yet."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.").encode("idna").decode()
    return free_id(f"{host}-{parts.port or ''}", taken)


def free_id(words: str, taken: set[str]) -> str:
    """A readable id made of `words` that is not taken yet."""
    base = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:50].rstrip("-") or "site"
    number, chosen = 1, base
    while chosen in taken:
        number += 1
        chosen = f"{base}-{number}"
    return chosen


def _split(text: str) -> SplitResult:
    if len(text) > 2000 or re.search(r"[\s\\<>\"{}|^`\x00-\x1f]", text):
        raise BadAddress(_("Write one address without spaces, such as https://example.com/."))
    try:
        parts = urlsplit(text)
        int(parts.port or 0)  # raises ValueError for what is not a port
    except ValueError:
        raise BadAddress(
            _("Write an address such as https://example.com/ or https://example.com:8443/.")
        ) from None
    if parts.scheme not in ("http", "https"):
        scheme = parts.scheme
        said = _("Write an address that starts with http:// or https://, not %(scheme)s://.", scheme=scheme)
        raise BadAddress(said)
    if not _is_host(parts.hostname or ""):
        raise BadAddress(_("Write the host too, such as https://example.com/."))
    return parts


def _is_host(host: str) -> bool:
    if ":" in host:
        return True  # urlsplit has checked that it is an IPv6 address
    try:
        labels = host.encode("idna").decode().rstrip(".").split(".")
    except UnicodeError:
        return False
    return all(re.fullmatch(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?", label, re.IGNORECASE) for label in labels)
