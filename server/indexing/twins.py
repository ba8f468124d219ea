"""Chunks that say what an indexed chunk says under another address, such as those of a page that moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from server.domain.chunk import Chunk
from server.indexing.changes import PageChange
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord


class Twins:
    """Found page by page, so that only what a page repeats is read."""

    def __init__(self, content: ContentStore, pages: Iterable[PageRecord] = ()) -> None:
        self._content = content
        self._url_of = {page.content_hash: page.url for page in pages if page.content_hash}
        self._twins: dict[str, str] = {}

    def look_for(self, change: PageChange, moved_from: str = "") -> None:
        """Looks on the page that had the same content before, or that the page was at `moved_from`."""
        other = moved_from or self._url_of.get(change.record.content_hash, "")
        if not other or other == change.record.url:
            return
        known = {chunk.indexed_text: chunk.id for chunk in self._content.live.page(other)}
        self.add({c.id: known[c.indexed_text] for c in change.fresh if c.indexed_text in known})

    def add(self, twins: Mapping[str, str]) -> None:
        """Chunk -> its twin."""
        self._twins |= twins

    def of(self, chunks: Iterable[Chunk]) -> dict[str, str]:
        """Those of these chunks that have a twin."""
        return {chunk.id: self._twins[chunk.id] for chunk in chunks if chunk.id in self._twins}

    def forget(self) -> None:
        """All that was found is indexed now."""
        self._twins.clear()
