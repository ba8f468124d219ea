"""Settings of the installation as fields of a form: what holds, where it comes from, what is wrong."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import number, sentence
from admin.forms import UNPROCESSABLE
from admin.replies import changed, unchanged
from admin.settings.words import WORDS
from admin.stored import translated
from admin.texts import _
from server.api.access import configuration
from server.settings import SETTINGS
from server.settings.changes import WrongSetting, in_forms, shown
from server.settings.reading import as_text


@dataclass(slots=True)
class SettingField:
    """One setting in a form."""

    name: str
    label: str
    hint: str
    value: str
    """The text in the field; empty for secrets."""
    kind: str
    """text, long, secret or tick."""
    shown: str
    """What holds now, for people."""
    default: str
    """The default, for people; empty if it is nothing."""
    rare: bool
    origin: str
    """"dashboard", "start" or "default"."""
    at: datetime | None = None
    by: str = ""
    errors: list[str] = field(default_factory=list)
    problem: str = ""
    """Why what was set on the dashboard does not hold."""
    before: str = ""
    """What holds again after a reset, for people."""

    @property
    def id(self) -> str:
        return self.name


def fields_of(
    names: Iterable[str], typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[SettingField]:
    """The fields with what holds, or with what was `typed`."""
    live = configuration().live
    overrides, settings, base, problems = live.overrides, live.current, live.base, live.problems
    made = []
    for name in names:
        override = overrides.get(name)
        given = "start" if SETTINGS[name].is_given(base) else "default"
        made.append(
            SettingField(
                name,
                label_of(name),
                WORDS[name].hint,
                (typed or {}).get(name, "" if SETTINGS[name].is_secret else as_text(settings.value(name))),
                _kind(name),
                shown(name, settings),
                _default(name),
                WORDS[name].rare,
                "dashboard" if override else given,
                override.at if override else None,
                override.operator if override else "",
                [wrong] if (wrong := (errors or {}).get(name)) else [],
                problems.get(name, ""),
                shown(name, base) or _("empty"),
            )
        )
    return made


def form_fields(
    groups: Iterable[str], typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The fields of each group under its name, under `general` what is wrong with them together, and under
    `environment` the lines of .env that mean the same."""
    fields: dict[str, object] = {name: fields_of(in_forms(name), typed, errors) for name in groups}
    lines = [f"{name.upper()}={_in_environment(name)}" for name in in_forms(*groups)]
    return {**fields, "general": (errors or {}).get("", ""), "environment": "\n".join(lines)}


def saved(groups: Iterable[str], show: Callable[..., str], endpoint: str) -> ResponseReturnValue:
    """Save what was typed for groups of settings and lead to the page; or `show` what is wrong with it."""
    names = in_forms(*groups)
    typed = typed_values(names)
    if wrong := save(names):
        return show(typed, wrong), UNPROCESSABLE
    return redirect(url_for(f"admin.{endpoint}"))


def typed_values(names: Iterable[str]) -> dict[str, str]:
    """What was typed for settings, of those that differ from what holds. An empty secret stays as it is,
    unless its tick to remove it is set."""
    settings, typed = configuration().live.current, {}
    for name in names:
        text = request.form.get(name, "").replace("\r\n", "\n").strip()
        if SETTINGS[name].is_secret:
            if request.form.get(f"{name}-remove"):
                typed[name] = ""
            elif text:
                typed[name] = text
        elif _kind(name) == "tick":
            typed[name] = "1" if name in request.form else "0"
        elif name in request.form:
            typed[name] = text
    # A secret counts even if it is the same: it is entered again for another address.
    return {
        name: text
        for name, text in typed.items()
        if text != as_text(settings.value(name)) or (text and SETTINGS[name].is_secret)
    }


def save(names: Iterable[str]) -> dict[str, str] | None:
    """Stores what was typed; returns what is wrong by name ("" for what does not fit together), else None."""
    values = typed_values(names)
    if not values:
        unchanged()
        flash(_("Nothing was changed."), "done")
        return None
    before = configuration().live.current
    try:
        after = configuration().live.change(values, g.operator.email)
    except WrongSetting as error:
        return {error.name: sentence_of(error)}
    details = {name.upper(): [shown(name, before), shown(name, after)] for name in values}
    changed("changed settings", settings=details)
    flash(_("Saved. It applies within seconds."), "done")
    return None


def sentence_of(error: WrongSetting) -> str:
    """Return the message that is shown at the field, with the labels of the fields that it names."""
    message = re.sub(r"\b[A-Z][A-Z_]{3,}\b", lambda name: label_of(name[0].lower()), translated(str(error)))
    if message.startswith("String should match"):
        return _("Write it like the example above.")
    if message.startswith(("is ", "was ")):
        return f"This {message}."
    return sentence(message)


def label_of(name: str) -> str:
    """The label of a setting's field, or the name of a setting that cannot be changed any more."""
    return str(WORDS[name].label) if name in WORDS else name.upper()


def _in_environment(name: str) -> str:
    """The value as a line of .env has it; no secrets."""
    value = "" if SETTINGS[name].is_secret else as_text(configuration().live.current.value(name))
    return json.dumps(value, ensure_ascii=False) if re.search(r"[\s#\"']", value) else value


def _default(name: str) -> str:
    default = SETTINGS[name].default
    if isinstance(default, bool):
        return _("on") if default else _("off")
    if isinstance(default, int | float):
        return number(default)
    return as_text(default)


def _kind(name: str) -> str:
    setting = SETTINGS[name]
    if setting.is_secret:
        return "secret"
    if setting.annotation is bool:
        return "tick"
    return "long" if setting.changeable and setting.changeable.long else "text"
