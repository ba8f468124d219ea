"""The tables of what a site cannot answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import MetaData


@dataclass(frozen=True, slots=True)
class GapTables:
    """Named as in the database."""


def gap_tables(metadata: MetaData) -> GapTables:
    """Made in `metadata`, which has the table of sites."""
    return GapTables()
