"""Facts about pages in addition to their text, moves of pages, and the whole text of a generation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, select, update

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.storage.columns import now
from server.storage.content.reader import ContentReader
from server.storage.content.site_facts import MADE_FROM
from server.storage.schema.content import page_facts as facts
from server.storage.schema.content import page_moves, pages
from server.storage.schema.sites import site_notes
from server.storage.statements import upsert, upsert_changed
from server.storage.store import SiteRows


class PageFactStore(SiteRows):
    """Facts about one site's pages, from the last crawl."""

    def put(self, found: Mapping[str, PageFacts]) -> None:
        """Store the facts of these pages, by address. If any are new or changed, the card of the site is
        outdated. Raises UnknownSite."""
        rows = [{"site_id": self.site_id, "url": url, "facts": asdict(of)} for url, of in found.items()]
        if rows:
            changing = upsert_changed(self._db.dialect, facts, "facts")
            card = (site_notes.c.site_id == self.site_id, site_notes.c.name == MADE_FROM)
            with self._adding() as connection:
                if connection.execute(changing, rows).rowcount:
                    connection.execute(delete(site_notes).where(*card))

    def all(self) -> dict[str, PageFacts]:
        """Return all facts by address."""
        links: dict[tuple[str, str], tuple[str, str]] = {}
        wanted = select(facts.c.url, facts.c.facts).where(facts.c.site_id == self.site_id)
        with self._db.connect() as connection:  # row by row, because all of them take much memory
            return {row.url: _facts(row.facts, links) for row in connection.execute(wanted)}

    def get(self, url: str) -> PageFacts:
        """Return the facts of one page; empty for an unknown page."""
        found = self._scalar(select(facts.c.facts).where(facts.c.site_id == self.site_id, facts.c.url == url))
        return _facts(found, {}) if found else PageFacts()

    def urls(self) -> set[str]:
        """Return the addresses of pages that have facts."""
        return set(self._scalars(select(facts.c.url).where(facts.c.site_id == self.site_id)))

    def remove(self, urls: Sequence[str]) -> None:
        """Delete the facts of these pages. Unknown addresses are ignored."""
        self._remove(facts, urls)


def _facts(value: Mapping[str, Any], links: dict[tuple[str, str], tuple[str, str]]) -> PageFacts:
    """Return the facts in `value`. `links` keeps each link once, as navigation links are on every page."""
    return PageFacts(
        value["description"],
        tuple(value["breadcrumbs"]),
        tuple(links.setdefault(link, link) for link in map(tuple, value["links"])),
        tuple((str(question), str(answer)) for question, answer in value["questions"]),
        # Pages that an earlier version crawled have none.
        tuple((str(kind), str(name), str(text)) for kind, name, text in value.get("facts", ())),
    )


class PageMoves(SiteRows):
    """Moves of the pages of one site."""

    def record(self, old_url: str, new_url: str) -> None:
        """Record a move. The new address takes over the time when the old one was first seen. Idempotent."""
        row = {"site_id": self.site_id, "old_url": old_url, "new_url": new_url, "at": now()}
        mine = pages.c.site_id == self.site_id
        first = select(func.min(pages.c.first_seen_at)).where(mine, pages.c.url.in_([old_url, new_url]))
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, page_moves), row)
            seen = connection.execute(first).scalar()
            if seen is not None:
                moved = update(pages).where(mine, pages.c.url == new_url)
                connection.execute(moved.values(first_seen_at=seen))


class StoredText:
    """All pages of one generation, from which derived indexes are built. Implements SiteText."""

    def __init__(self, content: ContentReader, facts: PageFactStore) -> None:
        self._content = content.pinned()
        self._facts = facts
        self.generation = self._content.live_generation()

    def pages(self) -> Iterator[list[Chunk]]:
        """Yield the chunks of each page in page order, pages by address."""
        for _, of_page in groupby(self._content.every_chunk(), key=lambda chunk: chunk.url):
            yield list(of_page)

    def facts(self, url: str) -> PageFacts:
        """Return the facts of a page; empty for an unknown page."""
        return self._known.get(url, PageFacts())

    @cached_property
    def _known(self) -> dict[str, PageFacts]:
        return self._facts.all()
