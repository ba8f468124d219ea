"""A whole generation of a site's pages, for building what is derived from it. Implements SiteText."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.storage.content import ContentStore
from server.storage.page_facts import PageFactStore


class StoredText:
    """The generation to come where one is being written, otherwise the live one; always that with `live`."""

    def __init__(self, content: ContentStore, facts: PageFactStore, *, live: bool = False) -> None:
        self._content = content
        self._facts = facts
        coming = not live and content.is_changed()
        self.generation = content.next_generation() if coming else content.live_generation()

    def pages(self) -> Iterator[list[Chunk]]:
        """The chunks of each page in page order, pages by address."""
        for _, of_page in groupby(self._content.every_chunk(self.generation), key=lambda chunk: chunk.url):
            yield list(of_page)

    def facts(self, url: str) -> PageFacts:
        """Empty for a page of which nothing is known."""
        return self._known.get(url, PageFacts())

    @cached_property
    def _known(self) -> dict[str, PageFacts]:
        return self._facts.all()
