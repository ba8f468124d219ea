"""The tables of what operators keep about conversations."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import MetaData


@dataclass(frozen=True, slots=True)
class DialogueTables:
    """Named as in the database."""


def dialogue_tables(metadata: MetaData) -> DialogueTables:
    """Made in `metadata`, which has the table of sites."""
    return DialogueTables()
