"""The composition root: the only place where names in settings become objects.

One `Services` per process: `Stores` keeps, `Opened` answers and indexes, and this class sets to work.
`warm_up` opens what costs seconds before a process reports that it is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from threading import Event, Thread

from server.answering.chat import Chat
from server.answering.flows import FLOWS
from server.contact.outbox import open_outbox
from server.domain.protocols import Deriver
from server.domain.question import Question
from server.domain.site import Site
from server.gaps.gap_work import GapWork
from server.gaps.own_answers import OwnAnswers
from server.indexes.errors import IndexFailure
from server.indexes.words import drop_words
from server.jobs.crawl_control import CrawlControl
from server.jobs.crawl_watch import Interrupt
from server.jobs.page_edits import PageControl
from server.jobs.queue import JobQueue
from server.jobs.refresh_site import ProgressCallback, SiteIndex, SiteRefresh
from server.jobs.site_removal import SiteRemoval
from server.jobs.source_intake import SourceIntake
from server.jobs.sources import site_sources
from server.jobs.upkeep import Tidying, Upkeep
from server.playground.running import Playground
from server.quality.gate import gate_of
from server.quality.worker import QualityWorker
from server.retrieval.table import check_spec
from server.runtime.opened import Opened
from server.runtime.sites import open_indexer, open_strategy
from server.settings import Settings
from server.storage.errors import StorageError
from server.storage.questions import QuestionLog
from server.storage.site_rows import talked_since


class Services(Opened):
    """Everything that the API, the dashboard, the jobs and the shell work with. Safe in many threads."""

    def __init__(self, settings: Settings) -> None:
        """Opens and migrates the database. Raises StorageError, StartError, UnknownName."""
        super().__init__(settings)
        _ = check_spec(settings.strategy), FLOWS[settings.flow]
        self.source_intake = SourceIntake(self.sources, settings)
        self.jobs = JobQueue(self.folder.path, settings.redis_url)
        self._queue_refresh = self.jobs.register("refresh_site", self._work_on)
        self._queue_removal = self.jobs.register("remove_site", self._remove_site)
        self.crawling = CrawlControl(self.crawls, self._queue_refresh)
        self.pages = PageControl(self.database, self.crawls, self._queue_refresh)
        self._ending = Event()

    @cached_property
    def chat(self) -> Chat:
        """Answers visitors."""
        return Chat(self.conversations, self.history, self.pipeline)

    @cached_property
    def quality(self) -> QualityWorker:
        """Makes test sets and carries out their runs."""
        return QualityWorker(self)

    @cached_property
    def playground(self) -> Playground:
        """Asks sites with settings that nobody has saved."""
        return Playground(self)

    def forget_answer(self, message_id: str) -> None:
        """Takes an answer that did not help out of the cache: it is made anew for the next who asks."""
        message = QuestionLog(self.database).find(message_id)
        site = self.sites.find(message.site_id) if message else None
        if message and site:
            with suppress(IndexFailure):  # then nothing is answered anew, and the judgement is stored
                self.pipeline(site).forget(Question(message.question, site.id, (), message.language))

    @cached_property
    def own_answers(self) -> OwnAnswers:
        """The operator's own answers beside the pages."""
        return OwnAnswers(self)

    @cached_property
    def gap_work(self) -> GapWork:
        """Keeps `gaps` up to date."""
        return GapWork(self)

    def start_crawl(self, site_id: str) -> int:
        """Queues a crawl; returns its number. A site that has one waiting gets no second."""
        return self.crawling.start(site_id)

    def remove_site(self, site_id: str) -> None:
        """Takes a site from visitors and operators at once; the job worker removes all that belongs to it.
        Raises UnknownSite."""
        self._removal().begin(site_id)
        self._queue_removal(site_id)

    def remove_site_now(self, site_id: str) -> None:
        """The same in this process, done when it returns. Raises UnknownSite, StorageError, IndexFailure."""
        self._removal().begin(site_id)
        self._remove_site(site_id)

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
        Thread(target=self.gap_work.run, args=(self._ending,), name="gaps", daemon=True).start()
        Thread(target=self.quality.run, args=(self._ending,), name="quality", daemon=True).start()
        Thread(target=self.heartbeat.run, args=(self._ending,), name="heartbeat", daemon=True).start()
        tidying = Tidying(self.database, lambda: self.settings)
        Thread(target=tidying.run, args=(self._ending,), name="tidying", daemon=True).start()
        outbox = open_outbox(self.database, self.incidents, lambda: self.settings, lambda: self.seal)
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
        job = SiteRefresh(self.database, self.incidents, self.settings, sources, gate_of(self))
        had = job.run(crawl_id, self._site_index, on_progress, interrupt)
        if had and self.crawls.get(crawl_id).state == "done":
            self.gap_work.crawled(site_id, crawl_id)
        return had

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

    def _require_live_site(self) -> None:
        if not any(site.generation for site in self.sites.all()):
            raise StorageError("no site is indexed yet; its first crawl has not ended")


def _state(check: Callable[[], object]) -> str:
    try:
        check()
    except Exception as error:  # noqa: BLE001  every failure of a part is a state to report, not to raise
        return str(error) or type(error).__name__
    return "ok"
