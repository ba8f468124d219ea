"""The composition root: builds all parts from the settings. Each part gets only what it needs.

`open_runtime` opens an installation for one process. Parts that take seconds are opened on first use;
`SiteEngine.warm_up` opens them before a process reports that it is ready.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Thread

from threadpoolctl import ThreadpoolController

from server.answering.chat import Chat
from server.answering.engine import AnswerSources
from server.answering.flows.table import FLOWS
from server.contact.outbox import open_outbox
from server.domain.question import Question
from server.gaps.gap_work import GapWork
from server.gaps.own_answers import OwnAnswers
from server.indexes.errors import IndexFailure
from server.jobs.crawl_help import CrawlHelp
from server.jobs.upkeep import Tidying
from server.playground.asking import Playground
from server.quality.gate import measure_gate
from server.quality.runs import QualityWorker, RunStores
from server.retrieval.table import check_spec
from server.runtime.configuration import Configuration, open_configuration
from server.runtime.crawling import Crawling
from server.runtime.engine import SiteEngine
from server.runtime.renewal import renew_words
from server.runtime.stores import (
    DeliveryStores,
    DialogueStores,
    PeopleStores,
    QualityStores,
    Shared,
    SiteStores,
    WatchedIncidents,
)
from server.settings import Settings
from server.storage.conversations.erasure import Purge
from server.storage.conversations.figures import FigureStore
from server.storage.database import Database


@dataclass(frozen=True)
class Runtime:
    """All parts of an installation in this process. Consumers get only the parts that they use."""

    configuration: Configuration
    database: Database
    stores: SiteStores
    dialogue: DialogueStores
    delivery: DeliveryStores
    people: PeopleStores
    quality: QualityStores
    shared: Shared
    engine: SiteEngine
    crawling: Crawling
    chat: Chat
    own_answers: OwnAnswers
    gap_work: GapWork
    quality_worker: QualityWorker
    playground: Playground

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self.configuration.settings

    def forget_answer(self, message_id: str) -> None:
        """Remove an answer that did not help from the cache, so that the next visitor gets a new one."""
        message = self.dialogue.questions.find(message_id)
        site = self.stores.sites.find(message.site_id) if message else None
        if message and site:
            with suppress(IndexFailure):  # the rating is stored even if the cache cannot be reached
                question = Question(message.question, site.id, (), message.language)
                self.engine.pipeline(site).forget(question)

    def work(self, **more: Callable[[Event], None]) -> None:
        """Run queued jobs, crawl schedules and other background work until SIGTERM or SIGINT. `more` runs in
        threads of these names until the event is set."""
        ending = self.crawling.ending
        upkeep = self.crawling.upkeep()
        upkeep.take_up_left()
        for site_id in self.stores.sites.leaving():
            self.crawling.queue_removal(site_id)
        folder = self.configuration.folder.path / "cache"
        purge = Purge(self.database, [folder / "history", folder / "shared"])
        tidying = Tidying(self.database, lambda: self.settings)
        for name, run in (
            ("upkeep", upkeep.run),
            ("crawl help", CrawlHelp(self.database, lambda: self.settings).run),
            ("gaps", self.gap_work.run),
            ("quality", self.quality_worker.run),
            ("heartbeat", self.shared.heartbeat.run),
            ("tidying", tidying.run),
            ("limits", self.shared.limits.run),
            ("purge", purge.run),
            *more.items(),
        ):
            Thread(target=run, args=(ending,), name=name, daemon=True).start()
        outbox = open_outbox(
            self.database, self.engine.incidents, lambda: self.settings, lambda: self.configuration.seal
        )
        outbox.start(ending)
        self.crawling.jobs.work(self.configuration.base.crawling.crawls_at_once, ending)
        outbox.finish()

    def close(self) -> None:
        """Close connections. The parts cannot be used afterwards."""
        self.engine.close()
        self.database.close()


def open_runtime(settings: Settings) -> Runtime:
    """Open and migrate the database and compose the parts. Raises StorageError, StartError, UnknownName."""
    _ = check_spec(settings.retrieval.strategy), FLOWS[settings.retrieval.flow]
    # A question's matrix products take less time than it takes threads to wait for each other, and questions
    # that are answered at once use the other cores.
    ThreadpoolController().limit(limits=1, user_api="blas")
    configuration, database = open_configuration(settings)
    renew_words(database)
    shared = Shared(settings, configuration.folder, FigureStore(database))
    stores = SiteStores(database, settings.crawling.crawls_kept)
    dialogue, delivery = DialogueStores(database), DeliveryStores(database)
    quality = QualityStores(database)
    incidents = WatchedIncidents(stores.incidents, delivery.events)
    engine = SiteEngine(
        configuration, database, stores, lambda: AnswerSources(shared.optional, stores.curated.all), incidents
    )
    own_answers = OwnAnswers(engine, stores.curated)
    gap_work = GapWork(database, engine, stores.sites, stores.gaps, delivery.events, own_answers)
    measure = partial(measure_gate, database, engine)
    crawling = Crawling(configuration, database, stores, shared, engine, gap_work, measure)
    return Runtime(
        configuration,
        database,
        stores,
        dialogue,
        delivery,
        PeopleStores(database),
        quality,
        shared,
        engine,
        crawling,
        Chat(dialogue.conversations, engine.history, engine.pipeline),
        own_answers,
        gap_work,
        QualityWorker(
            engine,
            RunStores(database, configuration.folder.path, stores.sites, quality.testsets, quality.runs),
        ),
        Playground(engine, stores.playground_runs),
    )
