"""Protocols and parts with which other features ask a site questions, also with changed settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from server.indexes.sentence_vectors import SentenceVectors
from server.indexes.words import SqlWordIndex
from server.indexing.preparation import Preparation
from server.retrieval.parts import Deriving
from server.settings import Settings
from server.settings.tuning import Tuning
from server.storage.content.decisions import PageDecisions
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import ContentReader
from server.storage.content.site_facts import SiteFactStore


@dataclass(frozen=True, slots=True)
class SiteParts:
    """Content, indexes and models of one site."""

    content: ContentReader
    embedder: Embedder
    vectors: VectorIndex
    words: SqlWordIndex
    facts: PageFactStore
    deriving: Deriving
    decisions: PageDecisions
    """Operators' decisions about pages."""
    card: SiteFactStore
    """What the site says of itself."""
    relevance_model: RelevanceModel | None = None
    retriever: Retriever | None = None
    """Replaces the site's strategy when an evaluation supplies the passages."""
    sentences: SentenceVectors | None = None
    """Vectors of the chunks' sentences, computed during the crawl."""


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """Sources of answers that are not written from pages."""

    cache: Cache
    curated: Callable[[str], Sequence[CuratedAnswer]] = lambda site_id: ()
    """Returns the curated answers of a site; none where only the pages shall answer."""


class Engine(Protocol):
    """Models, indexes and pipelines of the installation's sites. Implemented by server.runtime.engine."""

    @property
    def settings(self) -> Settings:
        """The current settings."""

    @property
    def chat_model(self) -> ChatModel | None:
        """The configured model, or None."""

    @property
    def query_embedder(self) -> Embedder:
        """The embedder for single texts."""

    @property
    def document_embedder(self) -> Embedder:
        """The embedder for many texts."""

    @property
    def sources(self) -> AnswerSources:
        """The curated answers and the shared cache."""

    def parts(self, site_id: str, embedder: Embedder | None = None) -> SiteParts:
        """Return the content and indexes of a site, by default with the query embedder."""

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

    def grader(self, site: Site, parts: SiteParts) -> EvidenceGrader:
        """Return the grader that decides whether retrieved chunks answer a question."""

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
        """Return a new pipeline over `parts`, not shared with other callers."""

    def open_curated(self, site: Site) -> CuratedAnswers:
        """Return the shortcut that gives a site's curated answers."""

    def preparation(self, site: Site) -> Preparation:
        """Return what builds the missing indexes that `site.strategy` needs. Raises UnknownName."""

    def is_spent(self, site: Site) -> bool:
        """Return whether today's model budget is spent, for the site or the installation."""

    def without_model_cache(self) -> Engine:
        """Return this engine with the current settings and a model whose replies are not cached."""


def tuning_of(site: Site, settings: Settings) -> Tuning:
    """Return the installation's options with this site's own values."""
    own = site.options.get("tuning")
    return settings.tuning.with_values(own if isinstance(own, dict) else {})


def without_answer_cache(site: Site) -> Site:
    """Return the site with its answer cache switched off."""
    own = site.options.get("tuning")
    tuning = {**(own if isinstance(own, dict) else {}), "answer_cache": False}
    return replace(site, options={**site.options, "tuning": tuning})


def daily_limit(site: Site, settings: Settings) -> DailyLimit:
    """Return the site's daily limit on model use: its own options, else the settings."""
    tokens, cost = site.options.get("daily_tokens"), site.options.get("daily_cost")
    return DailyLimit(
        int(tokens) if isinstance(tokens, int | float) else settings.models.site_daily_tokens,
        float(cost) if isinstance(cost, int | float) else settings.models.site_daily_cost,
    )
