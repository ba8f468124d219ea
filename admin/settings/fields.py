"""Settings of the installation as fields of a form: what holds, where it comes from, what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flask import flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.formats import number, sentence
from admin.forms import UNPROCESSABLE
from admin.page import Page
from admin.replies import changed, unchanged
from admin.settings.words import WORDS
from admin.stored import translated
from admin.texts import _
from server.api.access import configuration
from server.settings import SETTINGS, Settings
from server.settings.changes import WrongSetting, in_forms, shown
from server.settings.reading import as_text


def fields_of(
    names: Iterable[str], typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The fields with what holds, or with what was `typed`, as templates show them.

    `value` is the text in the field, empty for secrets; `kind` is text, long, secret or tick; `origin` is
    dashboard, start or default. `shown`, `default` and `before`, which holds again after a reset, are for
    people. `problem` says why what was set on the dashboard does not hold.
    """
    live = configuration().live
    overrides, settings, base, problems = live.overrides, live.current, live.base, live.problems
    made = []
    for name in names:
        override, setting = overrides.get(name), SETTINGS[name]
        given = "start" if setting.is_given(base) else "default"
        made.append({
            "name": name,
            "label": label_of(name),
            "hint": WORDS[name].hint,
            "value": (typed or {}).get(name, "" if setting.is_secret else as_text(settings.value(name))),
            "kind": _kind(name),
            "shown": shown(name, settings),
            "default": _default(name),
            "rare": WORDS[name].rare,
            "origin": "dashboard" if override else given,
            "at": override.at if override else None,
            "by": override.operator if override else "",
            "errors": [wrong] if (wrong := (errors or {}).get(name)) else [],
            "problem": problems.get(name, ""),
            "before": shown(name, base) or _("empty"),
        })  # fmt: skip
    return made


PLACES: dict[str, str] = {}
"""Endpoint of the page where a setting is changed."""


TriedView = Callable[[Settings, dict[str, str]], ResponseReturnValue]


class Section:
    """A page with one form for groups of settings. `shown` gives what else its template takes."""

    def __init__(
        self, page: Page, name: str, rule: str, groups: Sequence[str], shown: Callable[[], dict[str, object]]
    ) -> None:
        self.page, self.names, self._groups, self._shown = page, in_forms(*groups), groups, shown
        self.endpoint, self._rule = f"settings_{name}", f"/settings/{rule}"
        PLACES.update(dict.fromkeys(self.names, self.endpoint))
        page.get(self._rule, self.endpoint)(self.show)

    def show(
        self, typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None, **more: object
    ) -> str:
        """The page with what holds or what was `typed`, and `errors` by the names of settings; "" has what is
        wrong with them together."""
        lines = [f"{name.upper()}={_in_environment(name)}" for name in self.names]
        return render_template(
            f"admin/{self.endpoint}.html",
            **{name: fields_of(in_forms(name), typed, errors) for name in self._groups},
            general=(errors or {}).get("", ""),
            environment="\n".join(lines),
            save=f"{self.endpoint}_save",
            **{**self._shown(), **more},
        )

    def tried(self, view: TriedView) -> Callable[[], ResponseReturnValue]:
        """A view that takes the settings as they would be with what was typed, and what was typed."""

        def called() -> ResponseReturnValue:
            typed = typed_values(self.names)
            try:
                wanted = configuration().live.tried(typed)
            except WrongSetting as error:
                return self.show(typed, {error.name: sentence_of(error)}), UNPROCESSABLE
            return view(wanted, typed)

        return called

    def tests(self, view: TriedView) -> TriedView:
        """Add the button that tries what is typed, and saves nothing."""

        def called() -> ResponseReturnValue:
            unchanged()
            return self.tried(view)()

        self.page.post(f"{self._rule}/test", f"{self.endpoint}_test")(called)
        return view

    def saves(self, view: TriedView | None = None) -> Section:
        """Add the form that saves what is typed; by `view` if there is more to do than that."""
        called = self.tried(view) if view else self.save
        self.page.post(self._rule, f"{self.endpoint}_save")(called)
        return self

    def save(self) -> ResponseReturnValue:
        """Save what was typed and lead to the page, or show what is wrong with it."""
        if wrong := save(self.names):
            return self.show(typed_values(self.names), wrong), UNPROCESSABLE
        return redirect(url_for(f"admin.{self.endpoint}"))


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
            is_decimal = SETTINGS[name].annotation is float and re.fullmatch(r"-?\d+,\d+", text)
            typed[name] = text.replace(",", ".") if is_decimal else text
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
