"""Finds text that must not be quoted or used as proof: commands to a model, and the rest of their
paragraph."""

from functools import lru_cache

from server.answering.writing.units import Unit, units
from server.guards.commands import command_in


@lru_cache(maxsize=4_000)
def trusted_units(text: str) -> tuple[Unit | None, ...]:
    """Return the units of a chunk's text, with None in place of untrusted ones.

    Cached, because many questions use the same chunks.
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
    """Return the words of a chunk's trusted units, with white space folded."""
    return " ".join(unit.quote for unit in trusted_units(text) if unit)
