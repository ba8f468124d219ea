"""Brings a site's index from the state of its last crawl to that of the present one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from crawler.page import Page
from server.domain.chunk import Changes, Chunk
from server.domain.protocols import Strategy
from server.indexing.changes import PageChange, is_same, page_change
from server.indexing.chunker import ChunkSizes, chunk_page
from server.storage.content import ContentStore, PageRecord

BATCH = 256
"""Chunks embedded at once: enough for the embedder to sort by length, few enough to report progress."""
MISSES = 2
"""Crawls in a row that must not find a page before it is removed."""


@dataclass(slots=True)
class IndexReport:
    """What one build did."""

    pages_indexed: int = 0
    pages_unchanged: int = 0
    pages_removed: int = 0
    chunks_added: int = 0
    """New on the site."""
    chunks_embedded: int = 0
    """Sent to the strategies: the new ones, and those whose page has another title now."""
    chunks_removed: int = 0
    seconds: float = 0.0
    generation: int = 0
    """The live one after the build."""


class Indexer:
    """One build at a time: `begin`, then each page of the crawl, then `finish`.

    Readers see the state before until `finish`. A chunk goes to the content store first, as part of
    the generation to come, and to the strategies then: so the content store knows all that a build
    that was cut off has written anywhere, and the next `begin` takes it back. Errors of strategies
    and stores pass through (ModelError, IndexFailure, StorageError) and leave the live index as it was.
    """

    def __init__(
        self,
        content: ContentStore,
        strategies: Sequence[Strategy],
        sizes: ChunkSizes | None = None,
        on_progress: Callable[[IndexReport], None] = lambda report: None,
    ) -> None:
        self._content = content
        self._strategies = tuple(strategies)
        self._sizes = sizes or ChunkSizes()
        self._on_progress = on_progress
        self._known: dict[str, PageRecord] = {}
        self._waiting: list[PageChange] = []
        self._waiting_chunks = 0
        self._changed = False
        self._started = time.monotonic()
        self.report = IndexReport()

    @property
    def pages_done(self) -> int:
        """Pages of this build that are written or were unchanged."""
        return self.report.pages_indexed + self.report.pages_unchanged

    def begin(self) -> None:
        """Starts a build; what an interrupted one wrote is undone."""
        unfinished = self._content.discard_unfinished()
        self._forget(unfinished)
        self._known = self._content.known_pages()
        self._waiting, self._waiting_chunks, self._changed = [], 0, False
        self._started = time.monotonic()
        self.report = IndexReport()

    def add(self, page: Page) -> None:
        """A page as it is now, new or known, changed or not."""
        known = self._known.get(page.url)
        if is_same(page, known):
            self._touch(page.url, page.etag, page.last_modified)
            return
        stored = self._content.chunk_ids(page.url) if known else []
        change = page_change(page, chunk_page(page, self._sizes), known, stored)
        self._known[page.url] = change.record
        self._waiting.append(change)
        self._waiting_chunks += len(change.fresh)
        self.report.chunks_added += len({chunk.id for chunk in change.fresh}.difference(stored))
        self.report.chunks_removed += len(change.removed)
        if self._waiting_chunks >= BATCH:
            self._write()

    def unchanged(self, url: str) -> None:
        """A known page that the site says has not changed."""
        known = self._known.get(url)
        if known is not None:
            self._touch(url, known.etag, known.last_modified)

    def missing(self, url: str) -> None:
        """A known address that is no page any more; removed when that is so for the second crawl in a row."""
        if url not in self._known or self._content.miss_page(url) < MISSES:
            return
        self.report.chunks_removed += len(self._content.remove_page(url))
        self.report.pages_removed += 1
        self._changed = True
        del self._known[url]
        self._progress()

    def finish(self) -> IndexReport:
        """Writes what waits, makes the new state the live one and clears the old one away."""
        self._write()
        if self._changed or not self._content.live_generation():
            self._content.go_live()
        dead = self._content.dead()
        self._forget(dead)
        self._content.purge(dead)
        self.report.generation = self._content.live_generation()
        self._progress()
        return self.report

    def reindex(self) -> IndexReport:
        """Gives every live chunk to the strategies again, for a new embedder or a new strategy."""
        self.begin()
        for batch in _batches(self._content.every_chunk()):
            self._index(batch)
            self._progress()
        self.report.generation = self._content.live_generation()
        return self.report

    def _touch(self, url: str, etag: str, last_modified: str) -> None:
        self._content.touch_page(url, etag=etag, last_modified=last_modified)
        self.report.pages_unchanged += 1
        self._progress()

    def _write(self) -> None:
        for change in self._waiting:
            self._content.put_page(change.record, change.chunks, change.removed)
            self._changed = True
        for batch in _batches(chunk for change in self._waiting for chunk in change.fresh):
            self._index(batch)
            self._progress()
        # Only now: what could not be written stays waiting, so that no build goes live without it.
        self.report.pages_indexed += len(self._waiting)
        self._waiting, self._waiting_chunks = [], 0
        self._progress()

    def _index(self, chunks: tuple[Chunk, ...]) -> None:
        for strategy in self._strategies:
            strategy.index(Changes(added=chunks))
        self.report.chunks_embedded += len(chunks)

    def _forget(self, ids: Sequence[str]) -> None:
        if ids:
            for strategy in self._strategies:
                strategy.forget(ids)

    def _progress(self) -> None:
        self.report.seconds = time.monotonic() - self._started
        self._on_progress(self.report)


def _batches(chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    batch: list[Chunk] = []
    for chunk in chunks:
        batch.append(chunk)
        if len(batch) == BATCH:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)
