"""The composition root: the only place where names in settings become objects.

One `Services` per process. What costs seconds to import or open (models, vectors) is made at first
use; `warm_up` does it before a process reports that it is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from threading import Event, Lock, Thread
from typing import TypeVar

from server.answering.chat import Chat
from server.answering.flows import FLOWS
from server.answering.language import question_language
from server.answering.pipeline import Pipeline
from server.contact.outbox import Outbox
from server.data_folder import DataFolder
from server.domain.curated import CuratedAnswer
from server.domain.protocols import Cache, ChatModel, Deriver, Embedder, History, RelevanceModel
from server.domain.question import Question
from server.domain.site import Site
from server.guards.limits import RateLimits
from server.indexes.errors import IndexFailure
from server.indexes.words import drop_words
from server.jobs.crawl_control import CrawlControl
from server.jobs.crawl_watch import Interrupt
from server.jobs.queue import JobQueue
from server.jobs.refresh_site import ProgressCallback, SiteIndex, SiteRefresh
from server.jobs.site_removal import SiteRemoval
from server.jobs.site_sources import site_sources
from server.jobs.source_intake import SourceIntake
from server.jobs.upkeep import Upkeep
from server.retrieval.table import check_spec
from server.services.answering import open_pipeline
from server.services.models import (
    open_chat_model,
    open_document_embedder,
    open_query_embedder,
    open_relevance_model,
)
from server.services.preparation import Preparation
from server.services.renewal import renew_words
from server.services.shortcuts import Given, open_curated
from server.services.sites import (
    SiteParts,
    VectorStore,
    open_indexer,
    open_parts,
    open_strategy,
    open_vector_store,
)
from server.settings import Settings
from server.storage.audit import AuditLog
from server.storage.contact import ContactStore
from server.storage.content import ContentStore
from server.storage.conversations import ConversationStore
from server.storage.crawls import CrawlStore
from server.storage.curated import CuratedStore
from server.storage.database import Database
from server.storage.deliveries import DeliveryStore
from server.storage.errors import StorageError
from server.storage.feedback import FeedbackStore
from server.storage.history import DiskHistory, RedisHistory
from server.storage.incidents import IncidentStore
from server.storage.operators import OperatorStore
from server.storage.questions import QuestionLog
from server.storage.schedules import ScheduleStore
from server.storage.shared_cache import DiskSharedCache, RedisSharedCache
from server.storage.site_rows import talked_since
from server.storage.sites import SiteStore
from server.storage.sources import SourceStore
from server.storage.testsets import TestSetStore
from server.storage.usage import UsageStore

T = TypeVar("T")


class Services:
    """Everything that the API, the dashboard, the jobs and the shell work with. Safe in many threads."""

    def __init__(self, settings: Settings) -> None:
        """Opens and migrates the database. Raises StorageError, StartError, UnknownName."""
        self.settings = settings
        _ = check_spec(settings.strategy), FLOWS[settings.flow]
        self.folder = DataFolder(settings.data_dir)
        self.database = Database(settings.database_url or self.folder.database_url())
        self.database.migrate()
        renew_words(self.database)
        self.sites = SiteStore(self.database)
        self.conversations = ConversationStore(self.database)
        self.feedback = FeedbackStore(self.database)
        self.contact = ContactStore(self.database)
        self.deliveries = DeliveryStore(self.database)
        self.crawls = CrawlStore(self.database)
        self.operators = OperatorStore(self.database)
        self.incidents = IncidentStore(self.database)
        self.audit = AuditLog(self.database)
        self.curated = CuratedStore(self.database)
        self.usage = UsageStore(self.database)
        self.testsets = TestSetStore(self.database)
        self.sources = SourceStore(self.database)
        self.source_intake = SourceIntake(self.sources, settings)
        self.jobs = JobQueue(self.folder.path, settings.redis_url)
        self._queue_refresh = self.jobs.register("refresh_site", self._work_on)
        self._queue_removal = self.jobs.register("remove_site", self._remove_site)
        self.schedules = ScheduleStore(self.database)
        self.crawling = CrawlControl(self.crawls, self._queue_refresh)
        self._ending = Event()
        self._lock = Lock()
        self._pipelines: dict[str, tuple[Site, Pipeline]] = {}

    @cached_property
    def secret_key(self) -> str:
        """Signs visitors' tokens and operators' sessions."""
        return self.settings.secret_key or self.folder.secret_key()

    @cached_property
    def history(self) -> History:
        """Last turns of each conversation."""
        turns, minutes = self.settings.history_turns, self.settings.history_minutes
        if self.settings.redis_url:
            return RedisHistory(self.settings.redis_url, turns, minutes)
        return DiskHistory(self.folder.path / "cache" / "history", turns, minutes)

    @cached_property
    def cache(self) -> Cache:
        """Small values shared by every process."""
        if self.settings.redis_url:
            return RedisSharedCache(self.settings.redis_url)
        return DiskSharedCache(self.folder.path / "cache" / "shared")

    @cached_property
    def limits(self) -> RateLimits:
        """Rate limits of visitors, addresses and logins."""
        return RateLimits.from_settings(self.settings, self.folder.path / "cache" / "limits")

    @cached_property
    def chat(self) -> Chat:
        """Answers visitors."""
        return Chat(self.conversations, self.history, self.pipeline)

    @property
    def chat_model(self) -> ChatModel | None:
        """The configured model with retries, budget and cache; None without a key."""
        return self._once("chat_model", partial(open_chat_model, self.settings, self.cache, self.usage))

    @cached_property
    def relevance_model(self) -> RelevanceModel | None:
        """The rerank API; None when none is configured."""
        return open_relevance_model(self.settings)

    @property
    def query_embedder(self) -> Embedder:
        """For single texts of visitors: remembered and quick."""
        return self._once(
            "query_embedder", partial(open_query_embedder, self.settings, self.folder, self.cache)
        )

    @property
    def document_embedder(self) -> Embedder:
        """For many texts: uses every core that the settings allow."""
        return self._once(
            "document_embedder", partial(open_document_embedder, self.settings, self.folder, self.cache)
        )

    @property
    def vector_store(self) -> VectorStore:
        """The Chroma of CHROMA_URL, of a running server, or in DATA_DIR.

        Raises IndexUnavailable, StartError.
        """
        return self._once("vectors", partial(open_vector_store, self.settings, self.folder))

    def content(self, site_id: str) -> ContentStore:
        """Pages and chunks of a site."""
        return ContentStore(self.database, site_id)

    def parts(self, site_id: str, embedder: Embedder) -> SiteParts:
        """Indexes and content of a site."""
        return open_parts(self.vector_store, self.database, self.content(site_id), embedder, site_id)

    def pipeline(self, site: Site) -> Pipeline:
        """What answers `site`; made anew when the site's settings or index changed."""
        known = self._pipelines.get(site.id)
        if known is None or known[0] != site:
            parts = replace(self.parts(site.id, self.query_embedder), relevance_model=self.relevance_model)
            given = Given(self.curated, self.cache)
            made = open_pipeline(site, parts, self.chat_model, self.incidents, self.settings, given)
            self._pipelines[site.id] = known = (site, made)
        return known[1]

    def preparation(self, site: Site) -> Preparation:
        """What builds the indexes that `site.strategy` needs and that are missing. Raises UnknownName."""
        parts = self.parts(site.id, self.document_embedder)
        strategy = open_strategy(site, parts, self.incidents, self.settings, self.chat_model)
        return Preparation(site, parts, strategy)

    def forget_answer(self, message_id: str) -> None:
        """Takes an answer that did not help out of the cache: it is made anew for the next who asks."""
        message = QuestionLog(self.database).find(message_id)
        site = self.sites.find(message.site_id) if message else None
        if message and site:
            with suppress(IndexFailure):  # then nothing is answered anew, and the judgement is stored
                self.pipeline(site).forget(Question(message.question, site.id, (), message.language))

    def curated_match(self, site: Site, text: str) -> tuple[CuratedAnswer, float] | None:
        """Which of the operator's own answers a question gets, and how alike it is."""
        parts = self.parts(site.id, self.query_embedder)
        language = question_language(text, site.language or "en")
        curated = open_curated(site, parts, self.curated, self.settings)
        return curated.match(Question(text, site.id, (), language))

    def start_crawl(self, site_id: str) -> int:
        """Queues a crawl; returns its number. A site that has one waiting gets no second."""
        return self.crawling.start(site_id)

    def remove_site(self, site_id: str) -> None:
        """Takes a site from visitors and operators at once; the job worker removes all that belongs to it.
        Raises UnknownSite."""
        self._removal().begin(site_id)
        self._queue_removal(site_id)

    def resume_crawls(self) -> None:
        """Queues anew the crawls that a killed worker left under way."""
        self._upkeep().take_up_left()

    def work(self) -> None:
        """Runs queued jobs, looks after crawls and schedules, and sends visitors' messages, until SIGTERM or
        SIGINT."""
        upkeep = self._upkeep()
        upkeep.take_up_left()
        for site_id in self.sites.leaving():
            self._queue_removal(site_id)
        Thread(target=upkeep.run, args=(self._ending,), name="upkeep", daemon=True).start()
        outbox = Outbox(self.database, self.incidents, self.settings)
        outbox.start(self._ending)
        self.jobs.work(self.settings.crawls_at_once, self._ending)
        outbox.finish()

    def refresh(
        self,
        site_id: str,
        crawl_id: int,
        on_progress: ProgressCallback = lambda found, fetched, indexed: None,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Crawls and indexes a site in this process; the outcome is in the crawl's record. False when the
        crawl is not to be had: see SiteRefresh."""
        sources = partial(site_sources, self.database, self.settings)
        job = SiteRefresh(self.database, self.incidents, self.settings, sources)
        return job.run(crawl_id, self._site_index, on_progress, interrupt)

    def _work_on(self, site_id: str, crawl_id: int) -> None:
        """The job of a worker."""
        if self.refresh(site_id, crawl_id, interrupt=Interrupt(self._ending)) and not self._ending.is_set():
            # What came meanwhile for this site had to wait for it.
            self._upkeep().queue_waiting()

    def _remove_site(self, site_id: str) -> None:
        """The job of a worker."""
        self._removal().run(site_id)

    def _removal(self) -> SiteRemoval:
        return SiteRemoval(self.database, self.crawling, self._drop_indexes, self._forget_talk)

    def _drop_indexes(self, site_id: str) -> None:
        drop_words(self.database, site_id)
        self.vector_store.chroma.drop_site(site_id)

    def _forget_talk(self, site_id: str) -> None:
        """What is remembered of conversations beside the database."""
        since = datetime.now(UTC) - timedelta(minutes=self.settings.history_minutes)
        for conversation_id in talked_since(self.database, site_id, since):
            self.history.forget(conversation_id)

    def _upkeep(self) -> Upkeep:
        return Upkeep(self.crawls, self.schedules, self.crawling, self._queue_refresh, lambda: len(self.jobs))

    def _site_index(self, site: Site) -> SiteIndex:
        parts = self.parts(site.id, self.document_embedder)
        strategy = open_strategy(site, parts, self.incidents, self.settings, self.chat_model)
        vectors = None if strategy.name == "lexical" else parts.vectors
        indexer = open_indexer(parts, strategy, self.settings)
        return SiteIndex(indexer, parts.embedder, vectors, isinstance(strategy, Deriver))

    def readiness(self) -> dict[str, str]:
        """Part -> "ok", or in one line what is wrong with it."""
        return {
            "database": _state(self.database.ping),
            "models": _state(lambda: self.query_embedder.embed(["ready"])),
            "vectors": _state(lambda: self.vector_store.ping()),
            "index": _state(self._require_live_site),
        }

    def warm_up(self) -> None:
        """Loads models and opens indexes, so that the first visitor does not wait for it."""
        self.query_embedder.embed(["ready"])
        for site in self.sites.all():
            self.pipeline(site)

    def close(self) -> None:
        """Ends connections; nothing may be asked of these services afterwards."""
        if "_made_vectors" in self.__dict__:
            self.vector_store.close()
        self.database.close()

    def _require_live_site(self) -> None:
        if not any(site.generation for site in self.sites.all()):
            raise StorageError("no site is indexed yet; its first crawl has not ended")

    def _once(self, name: str, make: Callable[[], T]) -> T:
        made = self.__dict__.get(f"_made_{name}")
        if made is None:
            with self._lock:
                made = self.__dict__.get(f"_made_{name}")
                if made is None:
                    made = (make(),)
                    self.__dict__[f"_made_{name}"] = made
        value: T = made[0]
        return value


def _state(check: Callable[[], object]) -> str:
    try:
        check()
    except Exception as error:  # noqa: BLE001  every failure of a part is a state to report, not to raise
        return str(error) or type(error).__name__
    return "ok"
