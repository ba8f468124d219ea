"""One variant of a run: opened as the site's own is, asked once, and forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from time import monotonic, perf_counter
from typing import Any

from server.answering.engine import AnswerSources, Engine, NoCurated, SiteParts, tuning_of
from server.answering.pipeline import Pipeline
from server.answering.trace import current_step
from server.answering.understanding.language import question_language
from server.domain.answer import Answer, AnswerEvent
from server.domain.derived import Plan
from server.domain.protocols import Cache, ChatModel, ModelError, Prompt, Strategy
from server.domain.question import Question
from server.domain.site import Site
from server.domain.spending import Used, current
from server.indexing.preparation import Preparation
from server.playground.order import EMBEDDED, Order, Variant
from server.retrieval.options import read_spec
from server.settings import SETTINGS, Settings
from server.storage.content.page_facts import StoredText

LONGEST = 30_000
"""Characters of a part of a prompt, or of a reply, that are kept."""
MOST = 60
"""Calls of one question that are kept."""
SHORTEST_SECRET = 6


class PromptRecorder:
    """Implements ChatModel around another one: keeps prompts and replies, step by step, and stops
    at the deadline. One per question; strategies may call it from several threads."""

    def __init__(self, model: ChatModel, deadline: float, *, keeps: bool) -> None:
        """`deadline` by time.monotonic; without `keeps` only what was spent is known."""
        self.name = model.name
        self._model = model
        self._deadline = deadline
        self._keeps = keeps
        self.calls: list[dict[str, Any]] = []
        self.used = Used()

    def complete(self, prompt: Prompt) -> str:
        """The whole reply. Raises ModelError."""
        return "".join(self._kept(prompt, lambda: iter([self._model.complete(prompt)])))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The reply in pieces. Raises ModelError at any piece."""
        return self._kept(prompt, lambda: self._model.stream(prompt))

    def _kept(self, prompt: Prompt, start: Callable[[], Iterator[str]]) -> Iterator[str]:
        spending, pieces, began = current(), [], perf_counter()
        before = spending.used if spending else Used()
        call: dict[str, Any] = {"step": current_step(), "system": prompt.system[:LONGEST]}
        call["user"] = prompt.user[:LONGEST]
        if self._keeps and len(self.calls) < MOST:
            self.calls.append(call)
        try:
            self._in_time()
            for piece in start():
                pieces.append(piece)
                yield piece
                self._in_time()
        except ModelError as error:
            call["error"] = str(error)
            raise
        finally:
            after = spending.used if spending else Used()
            self.used = after
            call |= {"reply": "".join(pieces)[:LONGEST], "ms": round(1000 * (perf_counter() - began), 1)}
            call |= {"tokens": after.tokens - before.tokens, "cost": after.cost - before.cost}
            call["remembered"] = bool(pieces) and after.calls == before.calls

    def _in_time(self) -> None:
        if monotonic() > self._deadline:
            raise ModelError("timeout", "the time limit of this variant passed before the model was done")


class Gathered:
    """Implements Incidents: for the page alone, not for the list of what went wrong for visitors."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises."""
        if message not in self.messages:
            self.messages.append(message)


class ReadOnly:
    """Implements Cache: gives what visitors left there, and leaves nothing for them."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get(self, key: str) -> str | None:
        return self._cache.get(key)

    def set(self, key: str, value: str, ttl_s: float) -> None:
        """Nothing."""

    def add(self, key: str, value: str, ttl_s: float) -> bool:
        return False

    def delete(self, key: str) -> None:
        """Nothing."""


def without_secrets(value: Any, settings: Settings) -> Any:
    """The same JSON-like value with dots in place of every key that the settings hold."""
    secrets = (str(settings.value(name)) for name, setting in SETTINGS.items() if setting.is_secret)
    text = json.dumps(value, ensure_ascii=False, default=str)
    for secret in sorted(filter(lambda one: len(one) >= SHORTEST_SECRET, secrets), key=len, reverse=True):
        text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "•••")
    return json.loads(text)


EXPANSIONS = {
    "multi_query": "other wordings",
    "sub_questions": "its parts",
    "step_back": "a more general form",
    "hyde": "a passage such as might answer",
}
"""Option of server.domain.tuning -> what is searched in addition to the question."""
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
    """The variant took longer than it may."""


class Asking:
    """One question by one variant. Nothing of it is stored, cached or counted but what models took."""

    def __init__(self, engine: Engine, site: Site, order: Order, variant: Variant, seconds: float) -> None:
        self._engine = engine
        self._site = site
        self._order = order
        self._variant = variant
        self._deadline = monotonic() + seconds
        self._incidents = Gathered()
        model = engine.chat_model if variant.writer != EMBEDDED else None
        self._recorder = PromptRecorder(model, self._deadline, keeps=order.prompts) if model else None

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
        """What models took so far, and what else went wrong."""
        used = self._recorder.used if self._recorder else None
        return {
            "used": asdict(used) if used and used.calls else {},
            "incidents": list(self._incidents.messages),
        }

    def prompts(self) -> list[dict[str, Any]]:
        """Prompts and replies so far."""
        return list(self._recorder.calls) if self._recorder else []

    def _question(self) -> Question:
        order, turns = self._order, self._order.history
        fallback = turns[-1].language if turns and turns[-1].language else self._site.language or "en"
        language = order.language or question_language(order.question, fallback)
        return Question(order.question, self._site.id, turns, language)

    def _pipeline(self) -> Pipeline:
        engine, order = self._engine, self._order
        site = order.asked_site(self._site, self._variant)
        settings = engine.settings
        if order.retrieve_limit is not None:
            settings = settings.with_values({"retrieve_limit": order.retrieve_limit})
        model: ChatModel | None = self._recorder
        parts = engine.parts(site.id)
        strategy = engine.strategy(site, parts, model=model, incidents=self._incidents, settings=settings)
        parts = replace(parts, retriever=strategy.retriever)
        if site.strategy != self._site.strategy:
            self._require_index(site, parts, strategy)
        curated = engine.sources.curated if order.curated else NoCurated()
        return engine.open_pipeline(
            site,
            parts,
            model=model,
            sources=AnswerSources(curated, ReadOnly(engine.sources.cache)),
            incidents=self._incidents,
            settings=settings,
        )

    def _require_index(self, site: Site, parts: SiteParts, strategy: Strategy) -> None:
        """Raises NotBuilt. What the site itself is answered by is there, or visitors would miss it, too."""
        text = StoredText(parts.content, parts.facts)
        if not strategy.builder.is_current(text):
            raise NotBuilt(strategy.builder.plan(text))
        if read_spec(self._site.strategy)[0] not in ONE_SIDED:
            return  # vectors and words of every chunk are there
        preparation = Preparation(strategy, parts.content, parts.facts, parts.vectors, parts.words)
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
        order, settings = self._order, self._engine.settings
        tuning = tuning_of(order.asked_site(self._site, self._variant), settings)
        added = [words for name, words in EXPANSIONS.items() if getattr(tuning, name)]
        return {
            "Passages asked for": str(order.retrieve_limit or settings.retrieval.retrieve_limit),
            "Joined by": tuning.fusion,
            "Second look": tuning.rerank,
            **({"Searched beside": ", ".join(added)} if added else {}),
        }

    def _with_texts(self, rows: list[Mapping[str, object]]) -> list[dict[str, object]]:
        chunks = self._engine.parts(self._site.id).content.load([str(row.get("chunk")) for row in rows])
        texts = {id: chunk.text[:SHOWN_CHARS] for id, chunk in chunks.items()}
        return [{**row, "text": texts.get(str(row.get("chunk")), "")} for row in rows]
