"""A variant: one strategy and flow for a site's questions, opened for an evaluation."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from time import perf_counter
from typing import Any

from server.answering.engine import Engine, SiteParts, without_answer_cache
from server.answering.floors import site_floor
from server.answering.pipeline import Pipeline
from server.answering.understanding.language import question_language
from server.answering.writing.units import units
from server.domain.addresses import absolute, stored
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk, joined_text
from server.domain.derived import Monitor, record_id
from server.domain.protocols import ChatModel, Retriever, Strategy
from server.domain.question import Query, Question, Turn
from server.domain.site import Site
from server.evaluation.corpus import CORPUS
from server.evaluation.judges.abilities import (
    REJECTION,
    Trial,
    TrialResult,
    reference_of,
    sample,
    states,
    trials,
)
from server.evaluation.judges.embedded import SHORT, plain
from server.evaluation.judges.judgement import VERSION, Judge
from server.evaluation.judging import NOT_ANSWERED, judge, page_address
from server.evaluation.questions import Case
from server.evaluation.rows import EvaluatedRow, Journal, row_of
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
        """Parts of the site, over `content`."""
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
            "options": {name: self.site.options.get(name) for name in ("tuning", "auto")},
            "settings": [
                repr(settings.tuning),
                settings.retrieval.retrieve_limit,
                site_floor(self.site, settings, self.engine.query_embedder.fingerprint),
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


PAGES = 20
"""Pages that are ranked for a question."""
CHUNKS_A_PAGE = 4
"""Chunks that are searched for in order to have a page; a long page may hold many hits."""
CONSIDERED = 10
"""Best chunks by which it is judged how sure an answer would be."""


class Evaluation:
    """Asks a variant the questions of a file, as a visitor would, and judges what comes."""

    def __init__(self, variant: EvaluatedVariant, *, writes: bool = True) -> None:
        """With `writes` false it ranks pages and writes no answers."""
        self._variant = variant
        self._writes = writes
        self._pipeline = variant.pipeline(variant.strategy.retriever)
        self._grader = variant.engine.grader(variant.site, variant.parts)

    def ask(self, case: Case) -> EvaluatedRow:
        """Raises what the pipeline raises: StorageError, ModelError of no replacement."""
        self._variant.leave_out(case.left_out)
        question = self._question(case)
        started = perf_counter()
        hits = self._pipeline.search(question, PAGES * CHUNKS_A_PAGE)
        spent = round(1000 * (perf_counter() - started), 2)
        ranked = tuple(dict.fromkeys(hit.chunk.url for hit in hits))[:PAGES]
        answer = self._pipeline.whole(question) if self._writes else None
        verdicts = judge(case, ranked, answer, self._variant.page_text)
        query = self._pipeline.rewrite(question)
        sure = self._grader.answerability(query, hits[:CONSIDERED])
        verdicts["confidence"] = round(sure, 4)
        return row_of(case, ranked, hits, answer, verdicts, spent)

    def _question(self, case: Case) -> Question:
        """Make it as Chat does: each turn of the history with the query that it was searched with then."""
        turns: list[Turn] = []
        site = self._variant.site
        fallback = site.language or "en"
        for asked, answered in case.history:
            fallback = question_language(asked, fallback)
            query = self._pipeline.rewrite(Question(asked, site.id, tuple(turns), fallback)).text
            turns.append(Turn(asked, answered, query, fallback))
        language = question_language(case.question, fallback)
        return Question(case.question, site.id, tuple(turns), language)


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


DEPTH = 60
"""Chunks among which right ones and noise are looked for."""


class GivenPassages:
    """Implements Retriever: finds what it was given last."""

    name = "given passages"

    def __init__(self) -> None:
        self.given: tuple[ScoredChunk, ...] = ()

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """The same for every query."""
        return list(self.given[:limit])


def try_abilities(
    variant: EvaluatedVariant,
    cases: Sequence[Case],
    count: int,
    judge: Judge,
    journal: Journal,
    monitor: Monitor,
) -> list[TrialResult]:
    """Results of all trials on at most `count` of the cases. Raises DocentError, BuildStopped."""
    chosen = sample(cases, count)
    others = [c.answer for c in cases if 0 < len(c.answer.split()) <= SHORT and not c.answer[0].isdigit()]
    made_from = repr(sorted(variant.fingerprint().items()))
    trying = _Trying(variant, judge)
    results: list[TrialResult] = []
    for number, case in enumerate(chosen):
        monitor.step(f"trying abilities, {variant.site.flow}", number, len(chosen))
        key = record_id("abilities", made_from, judge.name, str(VERSION), repr(case.to_json()), repr(others))
        if key not in journal:
            journal.add(key, trying.results(case, others))
        results += [TrialResult(**value) for value in journal.get(key)]
    monitor.step(f"trying abilities, {variant.site.flow}", len(chosen), len(chosen))
    return results


class _Trying:
    def __init__(self, variant: EvaluatedVariant, judge: Judge) -> None:
        self._variant = variant
        self._judge = judge
        self._strategy = GivenPassages()
        self._pipeline = variant.pipeline(self._strategy)
        self._address = partial(absolute, base=variant.engine.settings.serving.base_url)

    def results(self, case: Case, others: Sequence[str]) -> list[TrialResult]:
        language = question_language(case.question, self._variant.site.language or "en")
        question = Question(case.question, self._variant.site.id, (), language)
        self._variant.leave_out(())
        hits = self._variant.strategy.retriever.retrieve(self._pipeline.rewrite(question), DEPTH)
        made = trials(case, hits, self._address, [other for other in others if other != case.answer])
        return [self._result(trial, question) for trial in made]

    def _result(self, trial: Trial, question: Question) -> TrialResult:
        self._strategy.given = trial.passages
        holdout = self._variant.content.holdout
        holdout.added = {hit.chunk.url: [hit.chunk] for hit in trial.passages[:1]} if trial.fact else {}
        try:
            answer = self._pipeline.whole(question)
        finally:
            holdout.added = {}
        refused = answer.outcome in NOT_ANSWERED
        verdict: dict[str, Any] = {}
        if trial.ability != REJECTION:
            right, unread = self._right(trial, answer, refused)
            verdict = {"right": right, "unread": unread}
        if trial.fact:
            verdict["misled"] = states(plain(answer.text), trial.fact.false) and not refused
            verdict["right"] = states(plain(answer.text), trial.fact.true) and not refused
        return TrialResult(trial.case.id, trial.ability, trial.noise, refused, **verdict)

    def _right(self, trial: Trial, answer: Answer, refused: bool) -> tuple[bool | None, bool]:
        """(whether it is right, whether the judge's reply could not be read)."""
        if refused or trial.fact or answer.outcome is not Outcome.ANSWERED:
            return False, False
        case = trial.case
        if case.must:
            return all(re.search(pattern, answer.text, re.I) for pattern in case.must), False
        text = plain(answer.text)
        right = self._judge.is_right(
            case.question, reference_of(case), text, self._variant.site.language or "en"
        )
        return right, right is None
