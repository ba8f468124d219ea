"""Models, indexes and pipelines of the sites. They are opened on first use, and again when a setting that
they depend on changes on the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import TypeVar, cast

from server.answering.engine import AnswerSources, SiteParts, daily_limit
from server.answering.grading import EvidenceGrader
from server.answering.pipeline import Pipeline
from server.answering.shortcuts.curated import CuratedAnswers
from server.domain.protocols import ChatModel, Embedder, History, Incidents, RelevanceModel, Strategy
from server.domain.site import Site
from server.indexing.preparation import Preparation
from server.models.metered import Budgets
from server.models.resilient import ResilientChat
from server.retrieval.rarity import Rarity
from server.runtime.answering import open_grader, open_pipeline
from server.runtime.configuration import Configuration
from server.runtime.models import (
    open_chat_model,
    open_document_embedder,
    open_query_embedder,
    open_relevance_model,
)
from server.runtime.sites import VectorStore, open_curated, open_parts, open_strategy, open_vector_store
from server.runtime.stores import SiteStores
from server.settings import Settings
from server.settings.changes import in_forms
from server.storage.conversations.history import DiskHistory, RedisHistory
from server.storage.database import Database
from server.storage.errors import StorageError

T = TypeVar("T")
EMBEDDER_SETTINGS = (
    "embedding_model", "embedding_languages", "embedding_query_prefix", "embedding_passage_prefix",
    "openai_api_key", "openai_base_url", "model_timeout_s", "model_retries", "model_daily_tokens",
    "private_hosts",
)  # fmt: skip
MODEL_SETTINGS = (*in_forms("chat", "embedding", "rerank", "calls", "budgets"), "private_hosts")


MOST_PIPELINES = 200
"""Pipelines kept by a process, of the sites asked last: each keeps a part of its site's word index."""


WARMED = 50
"""Sites opened before a process is ready. The first question of any other site opens it."""


class SiteEngine:
    """Implements server.answering.engine.Engine. One instance per process. Thread-safe."""

    def __init__(
        self,
        configuration: Configuration,
        database: Database,
        stores: SiteStores,
        sources: Callable[[], AnswerSources],
        incidents: Incidents,
        *,
        fixed: Settings | None = None,
    ) -> None:
        """`fixed` settings apply even if settings change in the meantime."""
        self._configuration = configuration
        self._database = database
        self._stores = stores
        self._sources = sources
        self._fixed = fixed
        self.incidents = incidents
        self._lock = Lock()
        self._keeping = Lock()
        self._made: dict[str, tuple[object, object]] = {}
        self._pipelines: dict[str, tuple[Site, Settings, Pipeline]] = {}

    @property
    def settings(self) -> Settings:
        """The current settings, or the fixed ones."""
        return self._fixed or self._configuration.settings

    @property
    def sources(self) -> AnswerSources:
        """The curated answers and the shared cache."""
        return self._sources()

    @cached_property
    def history(self) -> History:
        """The last turns of each conversation."""
        turns, minutes = self.settings.retrieval.history_turns, self.settings.retrieval.history_minutes
        if self.settings.storage.redis_url:
            return RedisHistory(self.settings.storage.redis_url, turns, minutes)
        return DiskHistory(self._configuration.folder.path / "cache" / "history", turns, minutes)

    @property
    def chat_model(self) -> ChatModel | None:
        """The configured model with retries, budget and cache; None without a key."""
        make = partial(open_chat_model, cache=self.sources.cache, log=self._stores.usage)
        return self._of_settings("chat_model", make, MODEL_SETTINGS)

    def chat_pause(self) -> tuple[float, str]:
        """Return (seconds for which this process does not call the chat model, why); (0, "") if it does."""
        model: object = self.chat_model
        while model is not None and not isinstance(model, ResilientChat):
            model = getattr(model, "_model", None)  # the cache and the meter wrap it
        return (0.0, "") if model is None else model.pause()

    @property
    def relevance_model(self) -> RelevanceModel | None:
        """The rerank API; None when none is configured."""
        return self._of_settings("relevance_model", open_relevance_model, MODEL_SETTINGS)

    @property
    def query_embedder(self) -> Embedder:
        """The embedder for single texts of visitors, with a cache."""
        make = partial(open_query_embedder, log=self._stores.usage)
        return self._of_settings("query_embedder", make, EMBEDDER_SETTINGS)

    @property
    def document_embedder(self) -> Embedder:
        """The embedder for many texts, which uses every core that the settings allow."""
        make = partial(open_document_embedder, log=self._stores.usage)
        return self._of_settings("document_embedder", make, EMBEDDER_SETTINGS)

    @property
    def vector_store(self) -> VectorStore:
        """Chroma at CHROMA_URL, of a running server, or in DATA_DIR. Raises IndexUnavailable, StartError."""
        make = partial(open_vector_store, folder=self._configuration.folder, database=self._database)
        return self._of_settings("vectors", make, ())

    def parts(self, site_id: str, embedder: Embedder | None = None) -> SiteParts:
        """Return the content and indexes of a site, by default with the query embedder."""
        content = self._stores.content(site_id)
        used = embedder or self.query_embedder
        made = open_parts(self.vector_store, self._database, content, used, site_id)
        return replace(made, relevance_model=self.relevance_model) if embedder is None else made

    def strategy(
        self,
        site: Site,
        parts: SiteParts,
        *,
        model: ChatModel | None = None,
        incidents: Incidents | None = None,
        settings: Settings | None = None,
    ) -> Strategy:
        """Return the strategy that indexes and searches the site. Raises UnknownName."""
        return open_strategy(site, parts, incidents or self.incidents, settings or self.settings, model)

    def grader(self, site: Site, parts: SiteParts) -> EvidenceGrader:
        """Return the grader that decides whether retrieved chunks answer a question."""
        return open_grader(site, parts, self.settings, Rarity(parts.words))

    def open_pipeline(
        self,
        site: Site,
        parts: SiteParts,
        *,
        model: ChatModel | None,
        sources: AnswerSources,
        incidents: Incidents | None = None,
        settings: Settings | None = None,
    ) -> Pipeline:
        """Return a new pipeline over `parts`."""
        reported = incidents or self.incidents
        return open_pipeline(site, parts, model, reported, settings or self.settings, sources)

    def pipeline(self, site: Site) -> Pipeline:
        """Return the pipeline for visitors of `site`, a new one after a change of settings, site or index."""
        known, settings = self._pipelines.get(site.id), self.settings
        if known is None or known[0] != site or known[1] is not settings:
            parts = self.parts(site.id)
            made = self.open_pipeline(site, parts, model=self.chat_model, sources=self.sources)
            known = (site, settings, made)
        with self._keeping:
            self._pipelines.pop(site.id, None)
            self._pipelines[site.id] = known
            while len(self._pipelines) > MOST_PIPELINES:
                del self._pipelines[next(iter(self._pipelines))]
        return known[2]

    def open_curated(self, site: Site) -> CuratedAnswers:
        """Return the shortcut that gives a site's current curated answers."""
        return open_curated(site, self.parts(site.id), self.sources, self.settings)

    def preparation(self, site: Site) -> Preparation:
        """Return what builds the missing indexes that `site.strategy` needs. Raises UnknownName."""
        parts = self.parts(site.id, self.document_embedder)
        strategy = self.strategy(site, parts, model=self.chat_model)
        return Preparation(strategy, parts.content, parts.facts, parts.vectors, parts.words)

    def is_spent(self, site: Site) -> bool:
        """Return whether today's model budget is spent. Remaining work then waits for the next day."""
        settings = self.settings
        if self.chat_model is None:
            return False
        if daily_limit(site, settings).reached(self._stores.usage.today(site.id)):
            return True
        return Budgets(self._stores.usage, settings.models.daily_tokens).is_spent

    def without_model_cache(self) -> SiteEngine:
        """Return this engine with the current settings and a model whose replies are not cached, so that
        every variant of an evaluation pays for its own calls."""
        settings = self.settings
        if not settings.models.cache_hours or self.chat_model is None:
            return self
        fixed = settings.with_values({"model_cache_hours": 0})
        other = SiteEngine(
            self._configuration, self._database, self._stores, self._sources, self.incidents, fixed=fixed
        )
        other._made = {name: made for name, made in self._made.items() if name != "chat_model"}
        return other

    def readiness(self) -> dict[str, str]:
        """Return the state of each part by name: "ok", or the problem in one line."""
        return {
            "database": state_of(self._database.ping),
            "models": state_of(lambda: self.query_embedder.embed(["ready"])),
            "vectors": state_of(lambda: self.vector_store.chroma.ping()),
            "index": state_of(self._require_live_site),
        }

    def _require_live_site(self) -> None:
        if not any(site.generation for site in self._stores.sites.all()):
            raise StorageError("no site is indexed yet; its first crawl has not ended")

    def warm_up(self) -> None:
        """Load models and open the indexes of some sites, so that their visitors do not wait for it."""
        self.query_embedder.embed(["ready"])
        for site in self._stores.sites.all()[:WARMED]:
            self.pipeline(site)

    def close(self) -> None:
        """Close connections. The engine cannot be used afterwards."""
        if "vectors" in self._made:
            self.vector_store.close()

    def _of_settings(self, name: str, make: Callable[[Settings], T], of: Collection[str]) -> T:
        """Return the object that `make` makes, a new one after a change of the settings `of`. Callers that
        have the previous object keep using it."""
        settings = self.settings
        key = tuple(settings.value(one) for one in of)
        made = self._made.get(name)
        if made is None or made[0] != key:
            with self._lock:
                made = self._made.get(name)
                if made is None or made[0] != key:
                    self._made[name] = made = (key, make(settings))
        return cast(T, made[1])


def state_of(check: Callable[[], object]) -> str:
    """Return "ok", or the problem in one line; "" if the check returns "" because the part is not in use."""
    try:
        return "" if check() == "" else "ok"
    except Exception as error:  # noqa: BLE001  every failure of a part is reported, not raised
        return str(error) or type(error).__name__
