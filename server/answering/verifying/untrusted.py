"""Which pieces of a page's text are not to be quoted, and prove nothing: commands to a model, and what
follows them in the same paragraph."""

from __future__ import annotations

from functools import lru_cache

from server.answering.writing.units import Unit, units
from server.guards.commands import command_in


@lru_cache(maxsize=1_500)
def trusted_units(text: str) -> tuple[Unit | None, ...]:
    """The units of a chunk's text, with None in the place of those that are not trusted.

    Remembered, since the same chunks are read for many questions.
    """
    found = units(text)
    if not command_in(text):
        return found
    kept: list[Unit | None] = []
    tainted = -1
    for unit in found:
        if unit.block != tainted and (command_in(unit.text) or command_in(unit.quote)):
            tainted = unit.block
        kept.append(None if unit.block == tainted else unit)
    return tuple(kept)


@lru_cache(maxsize=500)
def trusted_text(text: str) -> str:
    """The words of the trusted units of a chunk's text, white space folded."""
    return " ".join(unit.quote for unit in trusted_units(text) if unit)
