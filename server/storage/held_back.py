"""The content of a site as if some of its pages were not indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from server.domain.chunk import Chunk
from server.storage.at_generation import AtGeneration
from server.storage.database import Database
from server.storage.live_content import PageRecord


class HeldBack(AtGeneration):
    """For evaluations. Every strategy returns chunks that it loaded here, so it finds none of those pages."""

    def __init__(self, db: Database, site_id: str, generation: int | None = None) -> None:
        super().__init__(db, site_id, generation)
        self.hides: Callable[[str], bool] = lambda url: False
        """Whether a page is held back, by its stored address."""
        self.beside: dict[str, list[Chunk]] = {}
        """Pages that are taken to be there beside the stored ones, by address."""

    def load(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The live ones of these chunks, by id, in the order asked for."""
        return {id: chunk for id, chunk in super().load(ids).items() if not self.hides(chunk.url)}

    def page(self, url: str) -> list[Chunk]:
        """All live chunks of a page, in page order; [] for an unknown page."""
        if url in self.beside:
            return self.beside[url]
        return [] if self.hides(url) else super().page(url)

    def pages(self, *, limit: int = 100, offset: int = 0, search: str = "") -> list[PageRecord]:
        """Live pages by address."""
        found = super().pages(limit=limit, offset=offset, search=search)
        return [page for page in found if not self.hides(page.url)]

    def every_chunk(self, generation: int | None = None) -> Iterator[Chunk]:
        """All chunks of a generation."""
        return (chunk for chunk in super().every_chunk(generation) if not self.hides(chunk.url))
