"""The options of select fields."""

from __future__ import annotations

from collections.abc import Iterable

from wtforms.fields.choices import SelectChoice

from admin.access import services


def choices(pairs: Iterable[tuple[str, str]]) -> list[SelectChoice]:
    """(value, what is read)."""
    return [SelectChoice(value, text) for value, text in pairs]


def ready_testsets(site_id: str) -> list[SelectChoice]:
    """The test sets of a site that can be asked, with how many questions each has."""
    ready = (one for one in services().testsets.all(site_id) if one.is_ready)
    return choices((str(one.id), f"{one.name} ({one.count:,})") for one in ready)
