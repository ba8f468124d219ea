"""The tables of test sets, of their runs, and of the playground."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import MetaData


@dataclass(frozen=True, slots=True)
class QualityTables:
    """Named as in the database."""


def quality_tables(metadata: MetaData) -> QualityTables:
    """Made in `metadata`, which has the table of sites."""
    return QualityTables()
