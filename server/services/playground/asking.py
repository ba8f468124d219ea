"""One way of a run: opened as the site's own is, asked once, and forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from server.answering.language import question_language
from server.answering.pipeline import Pipeline
from server.domain.answer import Answer, AnswerEvent
from server.domain.derived import Plan
from server.domain.protocols import ChatModel, Deriver
from server.domain.question import Question
from server.domain.site import Site
from server.retrieval.options import read_spec
from server.services.answering import open_pipeline
from server.services.playground.order import EMBEDDED, Order, Way
from server.services.playground.recording import Gathered, NoAnswers, ReadOnly, Recorder
from server.services.preparation import Preparation
from server.services.shortcuts import Given
from server.services.sites import SiteParts, open_strategy, tuning_of
from server.storage.site_text import StoredText

if TYPE_CHECKING:
    from server.services.container import Services

BESIDE = {
    "multi_query": "other wordings",
    "sub_questions": "its parts",
    "step_back": "a more general form",
    "hyde": "a passage such as might answer",
}
"""Option of server.domain.tuning -> what is searched beside the question."""
ONE_SIDED = ("lexical", "dense")
"""Strategies of a site that leave out its vectors, or its words."""
SHOWN_CHARS = 1200
"""Characters of each candidate's text that are kept."""


class NotBuilt(Exception):
    """The strategy needs an index that the site does not have. `plan` is what building it takes."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("its index is not built for this site")
        self.plan = plan


class OutOfTime(Exception):
    """The way took longer than it may."""


class Asking:
    """One question by one way. Nothing of it is stored, cached or counted but what models took."""

    def __init__(self, services: Services, site: Site, order: Order, way: Way, seconds: float) -> None:
        self._services = services
        self._site = site
        self._order = order
        self._way = way
        self._deadline = monotonic() + seconds
        self._incidents = Gathered()
        model = services.chat_model if way.writer != EMBEDDED else None
        self._recorder = Recorder(model, self._deadline, keeps=order.prompts) if model else None

    def run(self) -> dict[str, Any]:
        """What came of it, as JSON-like values. Raises NotBuilt, OutOfTime, DocentError and what indexes
        and models raise."""
        began = perf_counter()
        pipeline = self._pipeline()
        answer = self._finished(pipeline.answer(self._question()))
        return {
            "answer": {**asdict(answer), "trace": self._trace(answer)},
            "took_ms": round(1000 * (perf_counter() - began), 1),
            **self.spent(),
        }

    def spent(self) -> dict[str, Any]:
        """What models took so far, and what went wrong beside the answer."""
        used = self._recorder.used if self._recorder else None
        return {
            "used": asdict(used) if used and used.calls else {},
            "incidents": list(self._incidents.messages),
        }

    def prompts(self) -> list[dict[str, Any]]:
        """What models were told and replied so far."""
        return list(self._recorder.calls) if self._recorder else []

    def _question(self) -> Question:
        order, turns = self._order, self._order.history
        fallback = turns[-1].language if turns and turns[-1].language else self._site.language or "en"
        language = order.language or question_language(order.question, fallback)
        return Question(order.question, self._site.id, turns, language)

    def _pipeline(self) -> Pipeline:
        use, order = self._services, self._order
        site = order.asked_site(self._site, self._way)
        settings = use.settings
        if order.retrieve_limit is not None:
            settings = settings.model_copy(update={"retrieve_limit": order.retrieve_limit})
        model: ChatModel | None = self._recorder
        parts = use.parts(site.id, use.query_embedder)
        parts = replace(parts, relevance_model=use.relevance_model)
        strategy = open_strategy(site, parts, self._incidents, settings, model)
        parts = replace(parts, strategy=strategy)
        if site.strategy != self._site.strategy:
            self._require_index(site, parts)
        curated = use.curated if order.curated else NoAnswers()
        given = Given(curated, ReadOnly(use.cache))
        return open_pipeline(site, parts, model, self._incidents, settings, given)

    def _require_index(self, site: Site, parts: SiteParts) -> None:
        """Raises NotBuilt. What the site itself is answered by is there, or visitors would miss it, too."""
        strategy = parts.strategy
        assert strategy is not None, "opened just before"
        text = StoredText(parts.content, parts.facts, live=True)
        if isinstance(strategy, Deriver) and not strategy.is_current(text):
            raise NotBuilt(strategy.plan(text))
        if read_spec(self._site.strategy)[0] not in ONE_SIDED:
            return  # vectors and words of every chunk are there
        preparation = Preparation(site, parts, strategy)
        if not preparation.is_done():
            raise NotBuilt(preparation.plan())

    def _finished(self, events: Iterator[AnswerEvent]) -> Answer:
        last: AnswerEvent | None = None
        for event in events:
            last = event
            if monotonic() > self._deadline:
                raise OutOfTime
        assert isinstance(last, Answer), "a pipeline ends with its answer"
        if monotonic() > self._deadline:
            raise OutOfTime
        return last

    def _trace(self, answer: Answer) -> dict[str, object]:
        """With the passages' texts, which a conversation's trace does without, and the prompts."""
        trace = dict(answer.trace)
        rows = trace.get("candidates")
        if isinstance(rows, list):
            trace["candidates"] = self._with_texts([row for row in rows if isinstance(row, Mapping)])
        trace["settings"] = self._settings()
        if prompts := self.prompts():
            trace["prompts"] = prompts
        return trace

    def _settings(self) -> dict[str, str]:
        """How it was searched, for the page."""
        order, settings = self._order, self._services.settings
        tuning = tuning_of(order.asked_site(self._site, self._way), settings)
        beside = [words for name, words in BESIDE.items() if getattr(tuning, name)]
        return {
            "Passages asked for": str(order.retrieve_limit or settings.retrieve_limit),
            "Joined by": tuning.fusion,
            "Second look": tuning.rerank,
            **({"Searched beside": ", ".join(beside)} if beside else {}),
        }

    def _with_texts(self, rows: list[Mapping[str, object]]) -> list[dict[str, object]]:
        chunks = self._services.content(self._site.id).load([str(row.get("chunk")) for row in rows])
        texts = {id: chunk.text[:SHOWN_CHARS] for id, chunk in chunks.items()}
        return [{**row, "text": texts.get(str(row.get("chunk")), "")} for row in rows]
