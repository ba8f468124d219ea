"""What is opened of an installation's stores: models, indexes, and what answers for each site.

What costs seconds to import or open is made at the first use, and made anew when a setting that it depends on
is changed on the dashboard.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import TypeVar, cast

from server.answering.pipeline import Pipeline
from server.changeable_settings import GROUPS, MODELS
from server.domain.protocols import ChatModel, Embedder, History, RelevanceModel
from server.domain.site import Site
from server.runtime.answering import open_pipeline
from server.runtime.models import (
    open_chat_model,
    open_document_embedder,
    open_query_embedder,
    open_relevance_model,
    pause_of,
)
from server.runtime.preparation import Preparation
from server.runtime.shortcuts import Given
from server.runtime.sites import SiteParts, VectorStore, open_parts, open_strategy, open_vector_store
from server.runtime.stores import Stores
from server.settings import Settings
from server.storage.history import DiskHistory, RedisHistory

T = TypeVar("T")
EMBEDDER_SETTINGS = (
    "embedding_model", "embedding_languages", "openai_api_key", "openai_base_url", "model_timeout_s",
    "model_retries", "model_daily_tokens",
)  # fmt: skip
MODEL_SETTINGS = (*MODELS, *GROUPS["budgets"])


class Opened(Stores):
    """Safe in many threads."""

    def __init__(self, settings: Settings) -> None:
        """Opens and migrates the database. Raises StorageError, StartError."""
        super().__init__(settings)
        self._lock = Lock()
        self._made: dict[str, tuple[object, object]] = {}
        self._pipelines: dict[str, tuple[Site, Settings, Pipeline]] = {}

    @cached_property
    def history(self) -> History:
        """Last turns of each conversation."""
        turns, minutes = self.settings.history_turns, self.settings.history_minutes
        if self.settings.redis_url:
            return RedisHistory(self.settings.redis_url, turns, minutes)
        return DiskHistory(self.folder.path / "cache" / "history", turns, minutes)

    @property
    def chat_model(self) -> ChatModel | None:
        """The configured model with retries, budget and cache; None without a key."""
        make = partial(open_chat_model, cache=self.cache, log=self.usage)
        return self._of_settings("chat_model", make, MODEL_SETTINGS)

    def chat_pause(self) -> tuple[float, str]:
        """(seconds for which the chat model is left alone in this process, why)."""
        return pause_of(self.chat_model)

    @property
    def relevance_model(self) -> RelevanceModel | None:
        """The rerank API; None when none is configured."""
        return self._of_settings("relevance_model", open_relevance_model, MODEL_SETTINGS)

    @property
    def query_embedder(self) -> Embedder:
        """For single texts of visitors: remembered and quick."""
        make = partial(open_query_embedder, folder=self.folder, cache=self.cache)
        return self._of_settings("query_embedder", make, EMBEDDER_SETTINGS)

    @property
    def document_embedder(self) -> Embedder:
        """For many texts: uses every core that the settings allow."""
        make = partial(open_document_embedder, folder=self.folder, cache=self.cache)
        return self._of_settings("document_embedder", make, EMBEDDER_SETTINGS)

    @property
    def vector_store(self) -> VectorStore:
        """The Chroma of CHROMA_URL, of a running server, or in DATA_DIR.

        Raises IndexUnavailable, StartError.
        """
        return self._of_settings("vectors", partial(open_vector_store, folder=self.folder), ())

    def parts(self, site_id: str, embedder: Embedder) -> SiteParts:
        """Indexes and content of a site."""
        return open_parts(self.vector_store, self.database, self.content(site_id), embedder, site_id)

    def pipeline(self, site: Site) -> Pipeline:
        """What answers `site`; made anew when the settings, the site's own or its index changed."""
        known, settings = self._pipelines.get(site.id), self.settings
        if known is None or known[0] != site or known[1] is not settings:
            parts = replace(self.parts(site.id, self.query_embedder), relevance_model=self.relevance_model)
            given = Given(self.curated, self.cache)
            made = open_pipeline(site, parts, self.chat_model, self.incidents, settings, given)
            self._pipelines[site.id] = known = (site, settings, made)
        return known[2]

    def preparation(self, site: Site) -> Preparation:
        """What builds the indexes that `site.strategy` needs and that are missing. Raises UnknownName."""
        parts = self.parts(site.id, self.document_embedder)
        strategy = open_strategy(site, parts, self.incidents, self.settings, self.chat_model)
        return Preparation(site, parts, strategy)

    def close(self) -> None:
        """Ends connections; nothing may be asked of these services afterwards."""
        if "vectors" in self._made:
            self.vector_store.close()
        self.database.close()

    def _of_settings(self, name: str, make: Callable[[Settings], T], of: Collection[str]) -> T:
        """What `make` makes, once, and anew when one of the settings `of` changed. Who works with the one
        before goes on with it."""
        settings = self.settings
        key = tuple(getattr(settings, one) for one in of)
        made = self._made.get(name)
        if made is None or made[0] != key:
            with self._lock:
                made = self._made.get(name)
                if made is None or made[0] != key:
                    self._made[name] = made = (key, make(settings))
        return cast(T, made[1])
