"""The texts about settings: `env.example` and `docs/settings.md`. A test compares both with the files."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from server.settings import GROUPS, SETTINGS, Setting
from server.settings.base import ADDRESS, RATE
from server.settings.reading import as_text
from server.settings.serving import SECURITY_CONTACT

INTRODUCTION = Path(__file__).with_name("introduction.md")


def env_example() -> str:
    """The text of `env.example`: every setting with its default and meaning."""
    lines = ["# Copy to .env and change what you need; the environment wins over .env."]
    for heading, settings in _sections():
        lines += ["", f"# --- {heading}", ""]
        for setting in settings:
            lines += textwrap.wrap(setting.description, 110, initial_indent="# ", subsequent_indent="# ")
            lines.append(f"#{setting.name.upper()}={as_text(setting.default)}")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """The text of `docs/settings.md`: an introduction, and a table for each group."""
    changeable = ", ".join(f"`{name.upper()}`" for name, setting in SETTINGS.items() if setting.changeable)
    parts = [INTRODUCTION.read_text(encoding="utf-8").format(changeable=changeable)]
    about = {kind.heading: kind.about for kind in GROUPS.values()}
    last = ""
    for heading, settings in _sections():
        group, _, section = heading.partition(": ")
        if group != last:
            parts.append(f"## {group}\n")
            parts += [f"{about[group]}\n"] if about[group] else []
            last = group
        parts += [f"### {section}\n"] if section else []
        rows = ["| setting | default | values | meaning |", "| --- | --- | --- | --- |", *map(_row, settings)]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def _sections() -> Iterator[tuple[str, list[Setting]]]:
    """The settings below each heading: that of the group, or "group: section" in large groups."""
    for name, group in GROUPS.items():
        heading, sections = group.heading, dict[str, list[Setting]]()
        for setting in SETTINGS.values():
            if setting.group == name:
                if start := group.subheadings.get(setting.field):
                    heading = f"{group.heading}: {start}"
                sections.setdefault(heading, []).append(setting)
        yield from sections.items()


def _row(setting: Setting) -> str:
    default = as_text(setting.default)
    shown = f"`{default}`" if default else "empty"
    return f"| `{setting.name.upper()}` | {shown} | {_values(setting)} | {setting.description} |"


def _values(setting: Setting) -> str:
    """Which values a setting takes."""
    kind = setting.annotation
    if get_origin(kind) is Literal:
        *others, last = (f"`{choice}`" for choice in get_args(kind))
        return f"{', '.join(others)} or {last}"
    if kind in (int, float):
        return _range(setting)
    if any(getattr(rule, "pattern", "") == RATE for rule in setting.info.metadata):
        return "limit"
    if ADDRESS in setting.info.metadata or SECURITY_CONTACT in setting.info.metadata:
        return "address"
    return {bool: "switch", Path: "path"}.get(kind, "text")


def _range(setting: Setting) -> str:
    rules, keys = setting.info.metadata, ("ge", "gt", "le")
    bounds = {key: f"{getattr(rule, key):,}" for key in keys for rule in rules if hasattr(rule, key)}
    if "gt" in bounds:
        return f"above {bounds['gt']}" + (f", up to {bounds['le']}" if "le" in bounds else "")
    return f"{bounds['ge']} to {bounds['le']}" if "le" in bounds else f"{bounds['ge']} or more"
