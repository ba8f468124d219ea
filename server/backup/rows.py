"""What rows of a backup may say: as much as could be typed on the dashboard, and no more.

A backup is a file that anybody may have edited. What a row would let Docent do is checked here, by the rules
that hold for the dashboard and the shell.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from crawler.errors import BadStart
from crawler.page import Page
from server.domain.answer import Outcome
from server.domain.contact import Channel, ContactOptions, DeliveryState
from server.domain.events import EventKind
from server.domain.roles import Role
from server.domain.site import OFF, PERIODS, Site
from server.jobs.crawl_options import crawl_options
from server.jobs.source_intake import check_folder
from server.settings import Settings
from server.settings.changes import CHANGEABLE, WrongSetting, changed
from server.storage.content.sources import SourceKind
from server.storage.people.api_keys import Scope

Row = dict[str, Any]
_SITE_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_EMAIL = re.compile(r"[^\s@<>()]+@[^\s@<>()]+")
_PAGE = re.compile(r"https?://[^\s<>\"]+|/sources/[^\s<>\"]*", re.IGNORECASE)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_ORIGIN = re.compile(r"https?://[^\s/<>\"@]+")
_ADDRESS_COLUMNS = ("url", "old_url", "new_url")


class BadRow(ValueError):
    """What is wrong with a row, without the name of its table."""


def check_row(table: str, row: Row, folders: Sequence[Path]) -> None:
    """Raise BadRow for a row that could not have come from Docent's own pages and commands, such as a folder
    source outside `folders`. A permission that rows cannot give is taken from it."""
    try:
        if table == "sources":
            _source(row, folders)
        elif check := CHECKS.get(table):
            check(row)
    except (KeyError, TypeError, AttributeError):
        raise BadRow("a value is missing or has another type") from None
    for name in _ADDRESS_COLUMNS:
        value = row.get(name)
        if value and not _PAGE.fullmatch(value):
            raise BadRow(f"{name} {value[:100]!r} is no address of a page")


def _site(row: Row) -> None:
    row["allow_private"] = False
    _match(_SITE_ID, row, "id")
    start_urls, origins = _texts(row, "start_urls"), _texts(row, "origins")
    options = _mapping(row, "options")
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise BadRow(f"the origin {origin[:100]!r} is not valid")
    contact = ContactOptions.of(options)
    if contact.webhook:
        _web("the webhook", contact.webhook)
    site = Site(
        row["id"], row["name"], row["title"], tuple(start_urls) or ("https://example.com/",), options=options
    )
    try:
        crawl_options(site, Settings())
    except BadStart as error:
        raise BadRow(str(error)) from None


def _source(row: Row, folders: Sequence[Path]) -> None:
    kind = _among([kind.value for kind in SourceKind], row, "kind")
    options = _mapping(row, "options")
    if row["digest"]:
        _match(_DIGEST, row, "digest")
    for name in ("include", "exclude"):
        _texts({name: options.get(name, [])}, name)
    if options.get("base"):
        _web("base", options["base"])
    if kind == SourceKind.FOLDER:
        try:
            check_folder(Path(row["name"]), folders)
        except BadStart as error:
            raise BadRow(str(error)) from None


def _blob(row: Row) -> None:
    if hashlib.sha256(row["body"]).hexdigest() != row["digest"] or len(row["body"]) != row["size"]:
        raise BadRow("a file is not the one that its digest names")


def _source_page(row: Row) -> None:
    try:
        Page.from_json(_mapping(row, "page"))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadRow("a page cannot be read") from None


def _operator(row: Row) -> None:
    _match(_EMAIL, row, "email")
    _among(list(Role), row, "role")
    if row.get("sites") is not None:
        _texts(row, "sites")


def _webhook(row: Row) -> None:
    _web("url", row["url"])
    _all_among(EventKind, row, "kinds")


def _setting(row: Row) -> None:
    if row["sealed"] or row["name"] not in CHANGEABLE:
        return  # the settings say that this version cannot change it
    try:
        changed(Settings(), {row["name"]: row["value"]})
    except WrongSetting as error:
        if error.name == row["name"]:
            raise BadRow(f"{row['name'].upper()} {error}") from None


def _message(row: Row) -> None:
    _among(list(Outcome), row, "outcome")
    for citation in row["citations"]:
        for name in ("url", "link"):
            if citation.get(name) and not _PAGE.fullmatch(citation[name].split("#")[0]):
                raise BadRow(f"a citation leads to {citation[name][:100]!r}")


def _delivery(row: Row) -> None:
    _among(list(DeliveryState), row, "state")
    if "channel" in row:
        _among(list(Channel), row, "channel")


def _passkey(row: Row) -> None:
    for name in ("credential", "handle", "public_key"):
        _match(_BASE64URL, row, name)


CHECKS: dict[str, Callable[[Row], object]] = {
    "sites": _site,
    "source_blobs": _blob,
    "source_pages": _source_page,
    "operators": _operator,
    "passkeys": _passkey,
    "operator_identities": lambda row: _web("issuer", row["issuer"]),
    "api_keys": lambda row: _all_among(Scope, row, "scopes"),
    "webhooks": _webhook,
    "setting_overrides": _setting,
    "schedules": lambda row: _among([OFF, *PERIODS], row, "every"),
    "messages": _message,
    "contact_deliveries": _delivery,
    "reply_deliveries": _delivery,
    "event_deliveries": _delivery,
    "curated_answers": lambda row: _texts(row, "questions"),
}
"""Checks by the name of the table; that of sources needs the folders, too."""


def _match(pattern: re.Pattern[str], row: Row, name: str) -> None:
    if not pattern.fullmatch(row[name]):
        raise BadRow(f"{name} {row[name][:100]!r} is not valid")


def _web(what: str, value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s<>\"/]+[^\s<>\"]*", value):
        raise BadRow(f"{what} {str(value)[:100]!r} is no address that starts with http:// or https://")


def _among(known: Collection[str], row: Row, name: str) -> str:
    value = row.get(name)
    if value is not None and value not in known:
        raise BadRow(f"{name} {str(value)[:100]!r} is unknown")
    return str(value)


def _all_among(kind: type[StrEnum], row: Row, name: str) -> None:
    for value in _texts(row, name):
        _among(list(kind), {name: value}, name)


def _texts(row: Row, name: str) -> list[str]:
    values = row[name]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadRow(f"{name} is no list of texts")
    return values


def _mapping(row: Row, name: str) -> Row:
    value = row[name]
    if not isinstance(value, dict):
        raise BadRow(f"{name} has no names and values")
    return value
