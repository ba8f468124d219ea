"""Where pages went, so that a page keeps its history under its new address."""

from __future__ import annotations

from sqlalchemy import func, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.statements import upsert
from server.storage.tables import page_moves, pages


class PageMoves:
    """Moves of the pages of one site."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self._site_id = site_id

    def record(self, old_url: str, new_url: str) -> None:
        """Notes a move; the page at the new address was first seen when the one at the old address was.
        Calling twice is one call."""
        row = {"site_id": self._site_id, "old_url": old_url, "new_url": new_url, "at": now()}
        mine = pages.c.site_id == self._site_id
        first = select(func.min(pages.c.first_seen_at)).where(mine, pages.c.url.in_([old_url, new_url]))
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, page_moves, key=("site_id", "old_url")), row)
            seen = connection.execute(first).scalar()
            if seen is not None:
                moved = update(pages).where(mine, pages.c.url == new_url)
                connection.execute(moved.values(first_seen_at=seen))

    def all(self) -> dict[str, str]:
        """Old address -> new address."""
        mine = select(page_moves.c.old_url, page_moves.c.new_url)
        with self._db.connect() as connection:
            rows = connection.execute(mine.where(page_moves.c.site_id == self._site_id))
            return {old: new for old, new in rows}
