"""The tables of what operators changed about pages."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import MetaData


@dataclass(frozen=True, slots=True)
class PageTables:
    """Named as in the database."""


def page_tables(metadata: MetaData) -> PageTables:
    """Made in `metadata`, which has the table of sites."""
    return PageTables()
