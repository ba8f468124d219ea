"""The indexes of a site, as a crawl uses them."""

from __future__ import annotations

from dataclasses import dataclass

from server.domain.protocols import Embedder, VectorIndex
from server.domain.site import Site
from server.indexing.indexer import Indexer
from server.storage.content.content import ContentStore


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """Opened for one crawl."""

    indexer: Indexer
    embedder: Embedder
    vectors: VectorIndex | None
    """None when the strategy has none."""
    is_derived: bool = False
    """Whether the strategy derives something from the whole of the pages."""

    def signature(self, site: Site) -> str:
        """The strategy and embedder that index the site's chunks; a change makes every index stale."""
        return f"{site.strategy} {self.embedder.fingerprint}"

    def is_stale(self, site: Site, content: ContentStore) -> bool:
        """Whether unchanged chunks are missing from the indexes: another strategy or embedder than last
        time, or Chroma's folder was lost (the words are in the database with the chunks)."""
        was = site.options.get("indexed_with")
        if was is not None and was != self.signature(site):
            return True
        if self.vectors is None:
            return False
        live = {chunk.id for chunk in content.live.every_chunk()}
        return not live <= self.vectors.ids()
