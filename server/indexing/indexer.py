"""Updates a site's index from the state of the last crawl to that of the current one."""

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from crawler.page import Page
from crawler.spilling import Spilling
from server.domain.chunk import Changes, Chunk
from server.domain.derived import Monitor, PageFacts, SiteText, Unwatched
from server.domain.protocols import Embedder, IndexBuilder, VectorIndex
from server.domain.site import Site
from server.indexes.sentence_vectors import SentenceVectors
from server.indexing.chunker import ChunkSizes, chunk_page
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord


@dataclass(frozen=True, slots=True)
class PageChange:
    """The difference between a page's new state and its stored state."""

    page: Page
    record: PageRecord
    chunks: tuple[Chunk, ...]
    """All chunks of the new state."""
    fresh: tuple[Chunk, ...]
    """Chunks that are missing in the indexes, or are there with another title."""
    removed: tuple[str, ...]
    """Ids of chunks that are no longer on the page."""


BATCH = 256
"""Chunks embedded at once: enough for the embedder to sort by length, few enough to report progress."""
MISSES = 2
"""Number of consecutive crawls that must not find a page before it is removed."""


@dataclass(slots=True)
class IndexReport:
    """Result of one build."""

    pages_indexed: int = 0
    pages_unchanged: int = 0
    pages_removed: int = 0
    chunks_added: int = 0
    """Number of chunks that are new on the site."""
    chunks_embedded: int = 0
    """Number of chunks sent to the strategies: new ones and those of retitled pages, without chunks that
    are indexed under another address."""
    chunks_removed: int = 0
    seconds: float = 0.0
    generation: int = 0
    """The live generation after the build."""


class Indexer:
    """Runs one build at a time: `begin`, each page of the crawl, then `finish`, or `prepare` and `go_live`.

    Readers see the previous state until `publish` or `go_live`. Each page is first written to the content
    store, as part of the next generation, then to the strategies, and is then marked as indexed. The content
    store therefore knows everything that an interrupted build has written, and what is missing. The next
    `begin` completes it or reverts it. Errors of strategies and stores are passed on (ModelError,
    IndexFailure, StorageError) and leave the live index unchanged.
    """

    def __init__(
        self,
        content: ContentStore,
        builders: Sequence[IndexBuilder],
        sizes: ChunkSizes | None = None,
        on_progress: Callable[[IndexReport], None] = lambda report: None,
        text: Callable[[], SiteText] | None = None,
        facts: PageFactStore | None = None,
    ) -> None:
        """`text` returns the whole generation being written, for strategies that derive from it; `facts`
        stores the pages' facts in addition to their text."""
        self._content = content
        self._facts = facts
        self._text = text
        self.monitor: Monitor = Unwatched()
        self.sentences: SentenceVectors | None = None
        """Vectors of the chunks' sentences, which are removed with their chunks."""
        self._builders = tuple(builders)
        self._sizes = sizes or ChunkSizes()
        self._on_progress = on_progress
        self._known: MutableMapping[str, PageRecord] = {}
        self._url_of: Spilling[str] = Spilling()
        """Content hash -> the page that has it."""
        self._twin_of: dict[str, str] = {}
        """Chunk -> one with the same text that is indexed under another address."""
        self._waiting: list[PageChange] = []
        self._waiting_chunks = 0
        self._cuts_again = False
        self._started = time.monotonic()
        self.report = IndexReport()

    @property
    def pages_done(self) -> int:
        """Number of pages that this build has written or found unchanged."""
        return self.report.pages_indexed + self.report.pages_unchanged

    @property
    def known(self) -> Mapping[str, PageRecord]:
        """Every page of this build by address."""
        return self._known

    def begin(
        self, *, resume: bool = False, report: IndexReport | None = None, cuts_again: bool = False
    ) -> None:
        """Start a build and revert an interrupted one. With `resume`, continue the interrupted build
        instead, with its `report` so far. With `cuts_again`, pages that have not changed are cut into chunks
        again, because the rules have changed."""
        if not resume:
            self._content.discard_unfinished()
            self._clear_away()
        self._waiting, self._waiting_chunks = [], 0
        self._started = time.monotonic()
        self._cuts_again = cuts_again
        self.report = report or IndexReport()
        self._index_remaining()
        self._known = self._content.known_pages()
        self._url_of = Spilling()
        for page in self._known.values():
            if page.content_hash:
                self._url_of[page.content_hash] = page.url
        self._twin_of = {}

    def add(self, page: Page, *, moved_from: str = "", source: str = "") -> None:
        """Add a page, new or known, changed or unchanged. `moved_from` is its previous address."""
        known = self._known.get(page.url)
        if known is not None and page.content_hash and _is_same(known, page) and not self._cuts_again:
            self._keep_facts([] if source else [page])
            self._touch(page.url, page.etag, page.last_modified)
            return
        stored = self._content.chunk_ids(page.url) if known else []
        chunks = chunk_page(page, self._sizes)
        before, now = frozenset(stored), {chunk.id for chunk in chunks}
        retitled = known is not None and known.title != page.title
        change = PageChange(
            page,
            record=_record(page, known, source),
            chunks=tuple(chunks),
            fresh=tuple(chunk for chunk in chunks if retitled or chunk.id not in before),
            removed=tuple(chunk_id for chunk_id in stored if chunk_id not in now),
        )
        # Before the page itself is known by this content.
        self._look_for_twins(change, moved_from)
        self._known[page.url] = change.record
        self._waiting.append(change)
        self._waiting_chunks += len(change.fresh)
        self.report.chunks_added += len({chunk.id for chunk in change.fresh}.difference(stored))
        self.report.chunks_removed += len(change.removed)
        if self._waiting_chunks >= BATCH:
            self.flush()

    def unchanged(self, url: str) -> None:
        """Record that a known page has not changed, as reported by the site."""
        known = self._known.get(url)
        if known is not None:
            self._touch(url, known.etag, known.last_modified)

    def missing(self, url: str, crawl_id: int = 0) -> None:
        """Record that a known page is missing. It is removed if the second consecutive crawl misses it.
        Idempotent for one crawl."""
        if url in self._known and self._content.miss_page(url, crawl_id) >= MISSES:
            self.remove(url)

    def remove(self, url: str) -> None:
        """Remove a known page from the index with this build."""
        self.report.chunks_removed += len(self._content.remove_page(url))
        self.report.pages_removed += 1
        del self._known[url]
        self._progress()

    def without_facts(self) -> set[str]:
        """Return the addresses of pages without stored facts."""
        return set() if self._facts is None else self._known.keys() - self._facts.urls()

    @property
    def waiting(self) -> frozenset[str]:
        """Addresses of pages that were added and are not yet in every index."""
        return frozenset(change.record.url for change in self._waiting)

    def flush(self) -> None:
        """Write every added page to the content store and the indexes."""
        self._keep_facts([change.page for change in self._waiting if not change.record.source])
        for change in self._waiting:
            self._content.put_page(change.record, change.chunks, change.removed)
        self._index(chunk for change in self._waiting for chunk in change.fresh)
        # After an error the pages keep waiting, so that no build goes live without them.
        self._content.mark_indexed([change.record.url for change in self._waiting])
        self.report.pages_indexed += len(self._waiting)
        self._waiting, self._waiting_chunks = [], 0
        self._twin_of.clear()
        self._progress()

    def publish(self) -> None:
        """Make everything written so far live, and delete what it replaces."""
        self.flush()
        if self._content.is_changed():
            self._content.go_live()
        self._clear_away()

    def prepare(self) -> bool:
        """Write what waits and let the builders complete it; return whether there is a live state that
        differs from it. Without `go_live` the live state stays, and what is written waits for the next
        build. Raises BuildStopped."""
        self.flush()
        self.complete()
        return bool(self._content.live.live_generation()) and self._content.is_changed()

    def finish(self) -> IndexReport:
        """Prepares the new state and makes it live at once. Raises BuildStopped."""
        self.prepare()
        return self.go_live()

    def go_live(self) -> IndexReport:
        """Make the prepared state the live one and clear the old one away."""
        if self._content.is_changed() or not self._content.live.live_generation():
            self._content.go_live()
        self._clear_away()
        if self._facts is not None:
            self._facts.remove(sorted(self._facts.urls() - self._known.keys()))
        self.report.generation = self._content.live.live_generation()
        self._progress()
        return self.report

    def index_coming(self) -> None:
        """Send every chunk of the live and the next generation to the strategies, for a new embedder or
        strategy, before the next generation goes live."""
        live = self._content.live.ids()
        self._index(self._content.live.every_chunk())
        coming = self._content.coming().every_chunk()
        self._index(chunk for chunk in coming if chunk.id not in live)
        self.complete()

    def discard(self) -> None:
        """Revert everything written since the last generation went live."""
        self._content.discard_unfinished()
        self._clear_away()

    def reindex(self) -> IndexReport:
        """Send every live chunk to the strategies again, for a new embedder or a new strategy."""
        self.begin()
        self._index(self._content.live.every_chunk())
        self.complete()
        self.report.generation = self._content.live.live_generation()
        return self.report

    def complete(self) -> None:
        """Build what is missing of the indexes that the strategies derive from the whole text. Raises
        BuildStopped."""
        if self._text is not None:
            text = self._text()
            for builder in self._builders:
                builder.complete(text, self.monitor)

    def _look_for_twins(self, change: PageChange, moved_from: str) -> None:
        """Looks on the page that had the same content before, or that the page was at `moved_from`, so that
        only what a page repeats is read."""
        other = moved_from or self._url_of.get(change.record.content_hash, "")
        if other and other != change.record.url:
            known = {chunk.indexed_text: chunk.id for chunk in self._content.live.page(other)}
            self._twin_of |= {c.id: known[c.indexed_text] for c in change.fresh if c.indexed_text in known}

    def _keep_facts(self, pages: Sequence[Page]) -> None:
        """Store the facts of pages. They have no generation: only derived indexes use them, when built."""
        if self._facts is not None and pages:
            self._facts.put(
                {
                    page.url: PageFacts(
                        page.description, page.breadcrumbs, page.link_texts, page.questions, page.facts
                    )
                    for page in pages
                }
            )

    def _index_remaining(self) -> None:
        """Index the pages that an interrupted build had stored but not indexed."""
        urls = self._content.unindexed()
        if not urls:
            return
        stored = [pair for url in urls for pair in self._content.newest_chunks(url)]
        # A chunk of that build, if its vector is there, has the vector of this very text.
        self._twin_of |= {chunk.id: chunk.id for chunk, coming in stored if coming}
        self._index(chunk for chunk, _ in stored)
        self._content.mark_indexed(urls)
        self.report.pages_indexed += len(urls)

    def _touch(self, url: str, etag: str, last_modified: str) -> None:
        self._content.touch_page(url, etag=etag, last_modified=last_modified)
        self.report.pages_unchanged += 1
        self._progress()

    def _index(self, chunks: Iterable[Chunk]) -> None:
        every = iter(chunks)
        while batch := tuple(islice(every, BATCH)):
            twins = {one.id: self._twin_of[one.id] for one in batch if one.id in self._twin_of}
            for builder in self._builders:
                builder.index(Changes(added=batch, twins=twins))
            self.report.chunks_embedded += len(batch) - len(twins)
            self._progress()

    def _clear_away(self) -> None:
        dead = self._content.dead()
        if dead:
            for builder in self._builders:
                builder.forget(dead)
            if self.sentences is not None:
                self.sentences.remove(dead)
            self._content.purge(dead)

    def _progress(self) -> None:
        self.report.seconds = time.monotonic() - self._started
        self._on_progress(self.report)


def _is_same(known: PageRecord, page: Page) -> bool:
    return (known.content_hash, known.variant_group) == (page.content_hash, page.variant_group)


def _record(page: Page, known: PageRecord | None, source: str) -> PageRecord:
    """Return what is kept of a page that was just read; `known` is what was kept of it before."""
    return PageRecord(
        url=page.url,
        title=page.title,
        language=page.language,
        content_hash=page.content_hash,
        etag=page.etag,
        last_modified=page.last_modified,
        missed=0,
        fetched_at=datetime.now(UTC),
        first_seen_at=known.first_seen_at if known else None,
        source=source,
        variant_group=page.variant_group,
    )


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
        return not content.live.ids() <= self.vectors.ids()
