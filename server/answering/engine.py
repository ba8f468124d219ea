"""What opens the answering of a site, as it is or with variations, for features that ask questions of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from server.answering.grading import EvidenceGrader
from server.answering.pipeline import Pipeline
from server.answering.shortcuts.curated import CuratedAnswers
from server.domain.curated import CuratedAnswer
from server.domain.protocols import (
    Cache,
    ChatModel,
    Embedder,
    Incidents,
    RelevanceModel,
    Retriever,
    Strategy,
    VectorIndex,
)
from server.domain.site import Site
from server.domain.spending import DailyLimit
from server.domain.tuning import Tuning
from server.indexes.sentence_vectors import SentenceVectors
from server.indexes.words import SqlWordIndex
from server.indexing.preparation import Preparation
from server.retrieval.parts import Deriving
from server.settings import Settings
from server.storage.content.decisions import PageDecisions
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import ContentReader


@dataclass(frozen=True, slots=True)
class SiteParts:
    """What a site's strategies and answers are made from."""

    content: ContentReader
    embedder: Embedder
    vectors: VectorIndex
    words: SqlWordIndex
    facts: PageFactStore
    deriving: Deriving
    relevance_model: RelevanceModel | None = None
    retriever: Retriever | None = None
    """Asked in place of the site's own, where an evaluation gives passages itself."""
    decisions: PageDecisions | None = None
    """What operators decided about pages."""
    sentences: SentenceVectors | None = None
    """Vectors of the chunks' sentences, made at the crawl."""


class CuratedSource(Protocol):
    """Where the operator's own answers of a site come from."""

    def all(self, site_id: str) -> Sequence[CuratedAnswer]: ...


class NoCurated:
    """Implements CuratedSource: none, where the pages alone are to answer."""

    def all(self, site_id: str) -> Sequence[CuratedAnswer]:
        """Return none."""
        return ()


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """Where answers come from that are not written from pages."""

    curated: CuratedSource
    cache: Cache


class Engine(Protocol):
    """Models, indexes and pipelines of the installation's sites. Implemented by server.runtime.engine."""

    @property
    def settings(self) -> Settings:
        """As they are now."""

    @property
    def chat_model(self) -> ChatModel | None:
        """None when none is configured."""

    @property
    def query_embedder(self) -> Embedder:
        """For single texts."""

    @property
    def document_embedder(self) -> Embedder:
        """For many texts."""

    @property
    def incidents(self) -> Incidents:
        """Where failures of parts are recorded."""

    @property
    def sources(self) -> AnswerSources:
        """The curated answers and the shared cache."""

    def parts(self, site_id: str, embedder: Embedder | None = None) -> SiteParts:
        """Content and indexes of a site; with the query embedder unless another is given."""

    def strategy(
        self,
        site: Site,
        parts: SiteParts,
        *,
        model: ChatModel | None = None,
        incidents: Incidents | None = None,
        settings: Settings | None = None,
    ) -> Strategy:
        """What indexes and searches the site. Raises UnknownName."""

    def grader(self, site: Site, parts: SiteParts) -> EvidenceGrader:
        """What decides whether retrieved chunks answer."""

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
        """A pipeline over `parts` that nobody else uses."""

    def open_curated(self, site: Site) -> CuratedAnswers:
        """What gives the operator's own answers of a site."""

    def preparation(self, site: Site) -> Preparation:
        """What builds the indexes that `site.strategy` needs and that are missing. Raises UnknownName."""

    def is_spent(self, site: Site) -> bool:
        """Whether today's budget of models is spent, for the site or the installation."""

    def without_model_cache(self) -> Engine:
        """The same with the settings as they are now and a model whose replies are not remembered."""


def tuning_of(site: Site, settings: Settings) -> Tuning:
    """Return the installation's options with those that were changed for this site."""
    own = site.options.get("tuning")
    return settings.tuning.options.with_values(own if isinstance(own, dict) else {})


def without_answer_cache(site: Site) -> Site:
    """Return the site with answers never taken from the cache of answers."""
    own = site.options.get("tuning")
    tuning = {**(own if isinstance(own, dict) else {}), "answer_cache": False}
    return replace(site, options={**site.options, "tuning": tuning})


def daily_limit(site: Site, settings: Settings) -> DailyLimit:
    """Return what models may take for the site in a day: its own options, else the settings."""
    tokens, cost = site.options.get("daily_tokens"), site.options.get("daily_cost")
    return DailyLimit(
        int(tokens) if isinstance(tokens, int | float) else settings.models.site_daily_tokens,
        float(cost) if isinstance(cost, int | float) else settings.models.site_daily_cost,
    )
