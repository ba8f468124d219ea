"""Crawls, edits of pages and the removal of sites: ordered by operators, carried out by the job worker."""

import logging
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event

from server.domain.protocols import ModelError
from server.domain.site import Site
from server.gaps.gap_work import GapWork
from server.indexes.sentence_vectors import drop_sentence_vectors
from server.indexes.words import drop_words
from server.jobs.crawl_control import CrawlControl
from server.jobs.crawl_watch import Interrupt
from server.jobs.dry_run import DryRuns
from server.jobs.gate import Measure
from server.jobs.page_edits import PageControl
from server.jobs.queue import JobQueue
from server.jobs.refresh_site import ProgressCallback, SiteIndex, SiteRefresh
from server.jobs.site_removal import SiteRemoval
from server.jobs.source_intake import SourceIntake
from server.jobs.sources import site_sources
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
    """One for each process. Safe in many threads."""

    def __init__(  # noqa: PLR0913 - all that the job worker works with
        self,
        configuration: Configuration,
        database: Database,
        stores: SiteStores,
        shared: Shared,
        engine: SiteEngine,
        gap_work: GapWork,
        measure: Measure,
    ) -> None:
        """`measure` tells the quality gate how good a new index is."""
        self._configuration = configuration
        self._database = database
        self._stores = stores
        self._engine = engine
        self._gap_work = gap_work
        self._measure = measure
        base = configuration.base
        self.jobs = JobQueue(configuration.folder.path, base.storage.redis_url)
        self._queue_refresh = self.jobs.register("refresh_site", self._work_on)
        self.queue_removal = self.jobs.register("remove_site", self.remove_left)
        self.control = CrawlControl(stores.crawls, self._queue_refresh)
        self.pages = PageControl(database, stores.crawls, self._queue_refresh)
        self.source_intake = SourceIntake(stores.sources, base)
        self.dry_runs = DryRuns(shared.cache, lambda: configuration.settings)
        self.ending = Event()
        """Set when the process is to stop working."""

    def start(self, site_id: str) -> int:
        """Queues a crawl; returns its number. A site that has one waiting gets no second."""
        return self.control.start(site_id)

    def refresh(
        self,
        site_id: str,
        crawl_id: int,
        on_progress: ProgressCallback = lambda found, fetched, indexed: None,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Crawls and indexes a site in this process; the outcome is in the crawl's record. False when the
        crawl is not available: see SiteRefresh."""
        settings = self._configuration.settings
        sources = partial(site_sources, self._database, settings)
        job = SiteRefresh(self._database, self._engine.incidents, settings, sources, self._measure)
        had = job.run(crawl_id, self._site_index, on_progress, interrupt)
        if had and self._stores.crawls.get(crawl_id).state == "done":
            self._gap_work.crawled(site_id, crawl_id)
        return had

    def upkeep(self) -> Upkeep:
        """What looks after crawls that were cut off and those that are due."""
        stores = self._stores
        return Upkeep(
            stores.crawls, stores.schedules, self.control, self._queue_refresh, lambda: len(self.jobs)
        )

    def remove_site(self, site_id: str) -> None:
        """Takes a site from visitors and operators at once; the job worker removes all that belongs to it.
        Raises UnknownSite."""
        self._removal().begin(site_id)
        self.queue_removal(site_id)

    def remove_site_now(self, site_id: str) -> None:
        """The same in this process, done when it returns. Raises UnknownSite, StorageError, IndexFailure."""
        self._removal().begin(site_id)
        self.remove_left(site_id)

    def remove_left(self, site_id: str) -> None:
        """Removes all that is left of a site whose removal has begun."""
        self._removal().run(site_id)

    def _work_on(self, site_id: str, crawl_id: int) -> None:
        """The job of a worker."""
        if self.refresh(site_id, crawl_id, interrupt=Interrupt(self.ending)) and not self.ending.is_set():
            # What came meanwhile for this site had to wait for it.
            self.upkeep().queue_waiting()
            self._fill_sentences(site_id)

    def _fill_sentences(self, site_id: str) -> None:
        """Embeds the sentences that questions are compared with, once their pages are live. With an embedding
        service, which is paid by the word, only what questions are compared with is sent to it."""
        if self._configuration.settings.models.embedding_model:
            return
        parts = self._engine.parts(site_id, self._engine.document_embedder)
        if parts.sentences is not None:
            try:
                parts.sentences.fill(parts.content.every_chunk(), lambda: not self.ending.is_set())
            except (ModelError, StorageError) as error:
                log.warning("sentences of %s are embedded when they are first compared: %s", site_id, error)

    def _removal(self) -> SiteRemoval:
        return SiteRemoval(self._database, self.control, self._drop_indexes, self._forget_talk)

    def _drop_indexes(self, site_id: str) -> None:
        drop_words(self._database, site_id)
        drop_sentence_vectors(self._database, site_id)
        self._engine.vector_store.chroma.drop_site(site_id)

    def _forget_talk(self, site_id: str) -> None:
        """What is remembered of conversations outside the database."""
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
