"""The options of a select field."""

from __future__ import annotations

from collections.abc import Iterable

from wtforms.fields.choices import SelectChoice


def choices(pairs: Iterable[tuple[str, str]]) -> list[SelectChoice]:
    """(value, what is read)."""
    return [SelectChoice(value, text) for value, text in pairs]
