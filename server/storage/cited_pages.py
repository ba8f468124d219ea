"""What pages contribute to answers: how often they are cited, when last, and with which words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from server.storage.database import Database
from server.storage.statements import among
from server.storage.tables import of_dialogue, of_pages

cited, citations = of_dialogue.cited, of_pages.citations

LOOKED_AT = 2000
"""Newest citations of one page of which the quotes are told apart."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that were quoted from a page."""

    text: str
    times: int
    """Among the newest citations of the page."""
    last_at: datetime


class CitedPages:
    """Citations of one site. Addresses as visitors open them, see server.domain.addresses."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self._site_id = site_id

    def urls(self) -> set[str]:
        """Addresses of every page that was ever cited."""
        found = select(citations.c.url).where(citations.c.site_id == self._site_id)
        with self._db.connect() as connection:
            return set(connection.execute(found).scalars())

    def figures(self, urls: Collection[str]) -> dict[str, tuple[int, datetime]]:
        """Address -> (times cited, last cited), of those of these pages that were."""
        counted = select(citations.c.url, citations.c.times, citations.c.last_at).where(
            citations.c.site_id == self._site_id, among(self._db.dialect, citations.c.url, "urls")
        )
        with self._db.connect() as connection:
            rows = connection.execute(counted, {"urls": sorted(urls)})
            return {url: (times, last) for url, times, last in rows}

    def quotes(self, url: str, limit: int) -> list[Quote]:
        """Words quoted from a page, each once, those quoted last first."""
        newest = (
            select(cited.c.quote, cited.c.at, cited.c.message_id)
            .where(cited.c.site_id == self._site_id, cited.c.url == url)
            .order_by(cited.c.at.desc())
            .limit(LOOKED_AT)
            .subquery()
        )
        times, last = func.count(), func.max(newest.c.at)
        grouped = select(newest.c.quote, times, last).group_by(newest.c.quote)
        with self._db.connect() as connection:
            rows = connection.execute(grouped.order_by(last.desc(), newest.c.quote).limit(limit))
            return [Quote(*row) for row in rows]
