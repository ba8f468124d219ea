"""Small texts that are kept for a site between its crawls."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.statements import upsert
from server.storage.tables import site_notes


class SiteNotes:
    """By site and name."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, site_id: str, name: str) -> str:
        """The text; empty when there is none."""
        found = select(site_notes.c.value).where(site_notes.c.site_id == site_id, site_notes.c.name == name)
        with self._db.connect() as connection:
            return str(connection.execute(found).scalar() or "")

    def set(self, site_id: str, name: str, value: str) -> None:
        """Keeps a text instead of the earlier one. Raises UnknownSite."""
        row = {"site_id": site_id, "name": name, "value": value}
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, site_notes, key=("site_id", "name")), row)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {site_id!r}") from error
