"""Crawls, page edits and site removals: requested by operators and run by the job worker."""

import logging
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event

from server.domain.protocols import ModelError, reads
from server.domain.site import Site
from server.errors import StartError
from server.gaps.gap_work import GapWork
from server.indexes.errors import IndexFailure
from server.indexes.sentence_vectors import drop_sentence_vectors
from server.indexes.words import drop_words
from server.indexing.indexer import SiteIndex
from server.jobs.crawl_control import CrawlControl, SiteRemoval
from server.jobs.crawl_intake import ProgressCallback
from server.jobs.crawl_watch import Interrupt
from server.jobs.dry_run import DryRuns
from server.jobs.floor_check import check_floor
from server.jobs.gate import Measure
from server.jobs.page_edits import PageControl
from server.jobs.queue import JobQueue
from server.jobs.refresh_site import SiteRefresh
from server.jobs.source_intake import SourceIntake
from server.jobs.sources import site_sources
from server.jobs.starters import choose_starters
from server.jobs.upkeep import Upkeep
from server.runtime.configuration import Configuration
from server.runtime.engine import SiteEngine
from server.runtime.sites import open_indexer
from server.runtime.stores import Shared, SiteStores
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.sites.sites import talked_since

log = logging.getLogger(__name__)


class Crawling:
    """Runs crawls, page edits and site removals. One instance per process. Thread-safe."""

    def __init__(  # noqa: PLR0913 - all parts that the job worker needs
        self,
        configuration: Configuration,
        database: Database,
        stores: SiteStores,
        shared: Shared,
        engine: SiteEngine,
        gap_work: GapWork,
        measure: Measure,
    ) -> None:
        """`measure` measures the quality of a new index for the quality gate."""
        self._configuration = configuration
        self._database = database
        self._stores = stores
        self._engine = engine
        self._gap_work = gap_work
        self._measure = measure
        base = configuration.base
        self.jobs = JobQueue(configuration.folder.path, base.storage.redis_url)
        self._queue_refresh = self.jobs.register("refresh_site", self._work_on)
        self.control = CrawlControl(stores.crawls, self._queue_refresh)
        self.start = self.control.start
        """Queues a crawl and returns its number. A site with a waiting crawl gets no second one."""
        self._removal = SiteRemoval(database, self.control, self._drop_indexes, self._forget_history)
        self.finish_removal = self._removal.run
        """Removes the remaining data of a site whose removal has begun."""
        self.queue_removal = self.jobs.register("remove_site", self.finish_removal)
        self.pages = PageControl(database, stores.crawls, self._queue_refresh)
        self.source_intake = SourceIntake(stores.sources, base)
        self.dry_runs = DryRuns(shared.cache, lambda: configuration.settings)
        self.ending = Event()
        """Set when the process is to stop working."""

    def refresh(
        self,
        site_id: str,
        crawl_id: int,
        on_progress: ProgressCallback = lambda found, fetched, indexed: None,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Crawl and index a site in this process. The crawl's record has the result. Return false if the
        crawl is not available (see SiteRefresh)."""
        settings = self._configuration.settings
        sources = partial(site_sources, self._database, settings)
        job = SiteRefresh(self._database, self._engine.incidents, settings, sources, self._measure)
        had = job.run(crawl_id, self._site_index, on_progress, interrupt)
        if had and self._stores.crawls.get(crawl_id).state == "done":
            ending = interrupt.event if interrupt else self.ending
            self._fill_sentences(site_id, ending)  # first, because the site's own questions compare them too
            if not ending.is_set():
                self._try_own_questions(site_id)
            self._gap_work.crawled(site_id, crawl_id)
        return had

    def upkeep(self) -> Upkeep:
        """Return the part that restarts interrupted crawls and queues due ones."""
        stores = self._stores
        return Upkeep(
            stores.crawls, stores.schedules, self.control, self._queue_refresh, lambda: len(self.jobs),
            stores.sites.leaving, self.queue_removal,
        )  # fmt: skip

    def remove_site(self, site_id: str) -> None:
        """Hide a site immediately and queue its removal by the job worker. Raises UnknownSite."""
        self._removal.begin(site_id)
        self.queue_removal(site_id)

    def remove_site_now(self, site_id: str) -> None:
        """Remove a site completely in this process. Raises UnknownSite, StorageError, IndexFailure."""
        self._removal.begin(site_id)
        self.finish_removal(site_id)

    def _work_on(self, site_id: str, crawl_id: int) -> None:
        """Run a queued crawl, unless another process of the data folder has the vectors: it takes it."""
        try:
            _ = self._engine.vector_store
        except StartError as error:
            log.info("crawl %s of %s is left to another worker: %s", crawl_id, site_id, error)
            return
        if self.refresh(site_id, crawl_id, interrupt=Interrupt(self.ending)) and not self.ending.is_set():
            # Jobs for this site that arrived in the meantime had to wait.
            self.upkeep().queue_waiting()

    def _try_own_questions(self, site_id: str) -> None:
        """Choose the site's starters and check its relevance floor, by questions from its own pages."""
        try:
            choose_starters(self._engine, self._stores.sites, site_id)
            check_floor(self._engine, self._database, site_id)
        except (ModelError, StorageError, IndexFailure) as error:
            log.warning("starters and relevance floor of %s stay as they are: %s", site_id, error)

    def _fill_sentences(self, site_id: str, ending: Event) -> None:
        """Embed the sentences of live pages, so that questions can be compared with them. An embedding
        service charges by the word, so with one, sentences are only embedded when first compared."""
        if self._configuration.settings.models.uses_embedding_service:
            return
        parts = self._engine.parts(site_id, self._engine.document_embedder)
        if parts.sentences is not None:
            try:
                _, spoken = parts.words.languages()
                is_read = any(reads(parts.embedder, language) for language in spoken)
                parts.sentences.fill(
                    parts.content.every_chunk(), lambda: not ending.is_set(), sentences=is_read
                )
            except (ModelError, StorageError) as error:
                log.warning("sentences of %s are embedded when they are first compared: %s", site_id, error)

    def _drop_indexes(self, site_id: str) -> None:
        drop_words(self._database, site_id)
        drop_sentence_vectors(self._database, site_id)
        self._engine.vector_store.chroma.drop_site(site_id)

    def _forget_history(self, site_id: str) -> None:
        """Delete the history of conversations outside the database."""
        since = datetime.now(UTC) - timedelta(minutes=self._configuration.settings.retrieval.history_minutes)
        for conversation_id in talked_since(self._database, site_id, since):
            self._engine.history.forget(conversation_id)

    def _site_index(self, site: Site) -> SiteIndex:
        engine = self._engine
        parts = engine.parts(site.id, engine.document_embedder)
        strategy = engine.strategy(site, parts, model=engine.chat_model)
        vectors = None if strategy.name == "lexical" else parts.vectors
        indexer = open_indexer(self._database, parts, strategy, engine.settings)
        return SiteIndex(indexer, parts.embedder, vectors, strategy.builder.derives)
