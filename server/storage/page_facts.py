"""What pages say beside their text: descriptions, breadcrumbs, links, questions with answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from server.domain.derived import PageFacts
from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.statements import among, upsert
from server.storage.tables import of_derived

facts = of_derived.facts


class PageFactStore:
    """The facts of one site's pages, as the last crawl saw them."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self._site_id = site_id

    def put(self, found: Mapping[str, PageFacts]) -> None:
        """Replaces those of these pages, by address. Raises UnknownSite."""
        rows = [{"site_id": self._site_id, "url": url, "facts": asdict(of)} for url, of in found.items()]
        if not rows:
            return
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, facts, key=("site_id", "url")), rows)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {self._site_id!r}") from error

    def all(self) -> dict[str, PageFacts]:
        """By address."""
        links: dict[tuple[str, str], tuple[str, str]] = {}
        with self._db.connect() as connection:
            found = connection.execute(
                select(facts.c.url, facts.c.facts).where(facts.c.site_id == self._site_id)
            )
            return {row.url: _facts(row.facts, links) for row in found}

    def urls(self) -> set[str]:
        """Addresses of the pages of which there are facts."""
        with self._db.connect() as connection:
            return set(
                connection.execute(select(facts.c.url).where(facts.c.site_id == self._site_id)).scalars()
            )

    def remove(self, urls: Sequence[str]) -> None:
        """Unknown addresses are no error."""
        gone = delete(facts).where(
            facts.c.site_id == self._site_id, among(self._db.dialect, facts.c.url, "urls")
        )
        with self._db.begin() as connection:
            connection.execute(gone, {"urls": list(urls)})


def _facts(value: Mapping[str, Any], links: dict[tuple[str, str], tuple[str, str]]) -> PageFacts:
    """`links` holds each link once: those of the navigation stand on every page."""
    return PageFacts(
        value["description"],
        tuple(value["breadcrumbs"]),
        tuple(links.setdefault(link, link) for link in map(tuple, value["links"])),
        tuple((str(question), str(answer)) for question, answer in value["questions"]),
    )
