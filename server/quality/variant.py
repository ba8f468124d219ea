"""A variant: one strategy and flow for a site's questions, opened for an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from server.answering.engine import Engine, SiteParts, without_answer_cache
from server.answering.pipeline import Pipeline
from server.answering.writing.reading import joined_text
from server.answering.writing.units import units
from server.domain.addresses import absolute, stored
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import ChatModel, Retriever, Strategy
from server.domain.question import Query
from server.domain.site import Site
from server.evaluation.corpus import CORPUS
from server.evaluation.judging import page_address
from server.evaluation.run import AskedVariant, Evaluation
from server.retrieval.options import read_spec
from server.retrieval.published.derived.index import DerivedBuilder
from server.storage.content.derived import DerivedState, DerivedStore
from server.storage.content.reader import ContentReader, Holdout
from server.storage.database import Database


@dataclass(frozen=True)
class EvaluatedVariant:
    """A site with a strategy and a flow. Answers never come from the cache of answers."""

    engine: Engine
    database: Database
    site: Site
    generation: int | None = None
    """Of the index that is asked, live or about to be; the live one where none is named."""

    @property
    def name(self) -> str:
        """As in reports: unique among the variants of one evaluation."""
        return f"{self.site.strategy}, {self.site.flow}"

    @property
    def model(self) -> ChatModel | None:
        """The model that writes answers; None where answers are quotations."""
        return self.engine.chat_model

    @property
    def writer(self) -> str:
        """Its name."""
        return self.model.name if self.model else "embedded"

    @cached_property
    def content(self) -> ContentReader:
        """Where pages can be held back."""
        return ContentReader(self.database, self.site.id, self.generation, Holdout())

    @cached_property
    def parts(self) -> SiteParts:
        """Of the site, over `content`."""
        opened = self.engine.parts(self.site.id)
        indexes = DerivedStore(self.database, self.site.id, self.generation)
        return replace(
            opened,
            content=self.content,
            deriving=replace(opened.deriving, indexes=indexes),
        )

    @cached_property
    def strategy(self) -> Strategy:
        """The strategy that is evaluated."""
        return self.engine.strategy(self.site, self.parts, model=self.model)

    def pipeline(self, retriever: Retriever) -> Pipeline:
        """What answers from what `retriever` finds."""
        parts = replace(self.parts, retriever=retriever)
        return self.engine.open_pipeline(
            without_answer_cache(self.site), parts, model=self.model, sources=self.engine.sources
        )

    def evaluation(self, *, writes: bool = True) -> Evaluation:
        """What asks the questions; with `writes` false it ranks pages alone."""
        grader = self.engine.grader(self.site, self.parts)

        def confidence(query: Query, hits: Sequence[ScoredChunk]) -> float:
            return grader.signs(query, hits).answerability() if hits else 0.0

        asked = AskedVariant(
            self.pipeline(self.strategy.retriever), self.page_text, confidence, self.leave_out, writes
        )
        return Evaluation(self.site.id, self.site.language, asked)

    def leave_out(self, pages: Sequence[str]) -> None:
        """Holds these pages back from now on, and no others."""
        addresses, base = frozenset(map(page_address, pages)), self.engine.settings.serving.base_url
        if addresses:
            self.content.holdout.hides = lambda url: page_address(absolute(url, base)) in addresses
        else:
            self.content.holdout.hides = lambda url: False

    @cached_property
    def page_text(self) -> Callable[[str], str]:
        """A page's indexed text as a reader sees it: without the marks of lists and code."""
        content, base = self._whole, self.engine.settings.serving.base_url

        @lru_cache(maxsize=500)
        def text(url: str) -> str:
            return " ".join(unit.quote for unit in units(joined_text(content.page(stored(url, base)))))

        return text

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Chunks by id, held back or not."""
        return self._whole.load(ids)

    @property
    def _whole(self) -> ContentReader:
        return ContentReader(self.database, self.site.id, self.generation)

    def fingerprint(self) -> dict[str, Any]:
        """All that an answer depends on except the question: a kept row is valid while this is the same."""
        settings, state = self.engine.settings, self._state()
        return {
            "site": self.site.id,
            "generation": self._whole.live_generation(),
            "derived": [state.key, state.signature] if state else [],
            "strategy": self.site.strategy,
            "flow": self.site.flow,
            "model": self.writer,
            "embedder": self.engine.query_embedder.fingerprint,
            "options": {name: self.site.options.get(name) for name in ("tuning", "relevance_floor", "auto")},
            "settings": [
                str(settings.tuning.options),
                settings.retrieval.retrieve_limit,
                settings.retrieval.relevance_floor,
            ],
        }

    def index_figures(self) -> dict[str, Any]:
        """What the index is and what building it took, for the report."""
        pages, chunks = self._whole.counts()
        figures: dict[str, Any] = {"pages": pages, "chunks": chunks}
        indexed = self.site.options.get(CORPUS)
        if isinstance(indexed, dict):
            figures["base_seconds"] = round(float(indexed["seconds"]), 2)
        if state := self._state():
            figures |= {"built_at": state.built_at.isoformat(timespec="seconds"), **dict(state.figures)}
        return figures

    def _state(self) -> DerivedState | None:
        """The newest derived index of the strategy; None for one that derives nothing."""
        builder = self.strategy.builder
        if not isinstance(builder, DerivedBuilder):
            return None
        return DerivedStore(self.database, self.site.id).newest(builder.key)


def open_variants(
    engine: Engine, database: Database, site: Site, strategies: Sequence[str], flows: Sequence[str]
) -> list[EvaluatedVariant]:
    """Every strategy under every flow, each once. Raises UnknownName."""
    for strategy in strategies:
        _ = read_spec(strategy)
    pairs = dict.fromkeys((strategy, flow) for flow in flows for strategy in strategies)
    return [
        EvaluatedVariant(engine, database, replace(site, strategy=strategy, flow=flow))
        for strategy, flow in pairs
    ]
