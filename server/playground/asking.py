"""One variant of a run: opened as the site's own is, asked once, and forgotten."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from threading import BoundedSemaphore, Thread
from time import monotonic, perf_counter
from typing import Any

from server.answering.engine import AnswerSources, Engine, SiteParts, tuning_of
from server.answering.pipeline import Pipeline
from server.answering.trace import current_step
from server.answering.understanding.language import question_language
from server.domain.answer import EMBEDDED, Answer, AnswerEvent
from server.domain.derived import Plan
from server.domain.protocols import Cache, ChatModel, ModelError, Prompt, Strategy
from server.domain.question import Question
from server.domain.site import Site
from server.domain.spending import Used, current
from server.errors import DocentError
from server.indexing.preparation import Preparation
from server.playground.order import Order, Variant, WrongOrder
from server.playground.store import DONE, FAILED, KeptRun, PlaygroundStore
from server.retrieval.options import read_spec
from server.settings import SETTINGS, Settings
from server.storage.content.page_facts import StoredText
from server.storage.errors import StorageError

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
            raise ModelError("timeout", "the time limit passed before the model was done")


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
"""Option of server.settings.tuning -> what is searched in addition to the question."""
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
        sources = AnswerSources(ReadOnly(engine.sources.cache))
        if order.curated:
            sources = replace(sources, curated=engine.sources.curated)
        return engine.open_pipeline(
            site,
            parts,
            model=model,
            sources=sources,
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
            "Reordered by": tuning.rerank,
            **({"Also searched": ", ".join(added)} if added else {}),
        }

    def _with_texts(self, rows: list[Mapping[str, object]]) -> list[dict[str, object]]:
        chunks = self._engine.parts(self._site.id).content.load([str(row.get("chunk")) for row in rows])
        texts = {id: chunk.text[:SHOWN_CHARS] for id, chunk in chunks.items()}
        return [{**row, "text": texts.get(str(row.get("chunk")), "")} for row in rows]


AT_ONCE = 8
"""Variants that one process asks side by side."""
_log = logging.getLogger(__name__)


class Playground:
    """Asks with settings that are kept nowhere but in the run itself."""

    def __init__(self, engine: Engine, runs: PlaygroundStore) -> None:
        self._engine = engine
        self._runs = runs
        self._free = BoundedSemaphore(AT_ONCE)
        self._under_way: dict[str, list[Thread]] = {}

    def start(self, site: Site, order: Order, typed: Mapping[str, str], asked_by: str) -> KeptRun:
        """Begins to ask by every variant of the order. `typed` is what the form is filled with again. Raises
        WrongOrder for a site that is not indexed, or when too much is being asked already."""
        if not site.generation:
            raise WrongOrder({"site": "This site is not read yet, so nothing can be asked of it."})
        for taken, _ in enumerate(order.variants):
            if not self._free.acquire(blocking=False):
                self._release(taken)
                raise WrongOrder({"question": "Others are asking here already: try again in a moment."})
        asked = {"typed": dict(typed), "ways": [asdict(variant) for variant in order.variants]}
        kept = without_secrets({"question": order.question, "asked": asked}, self._engine.settings)
        try:
            run = self._runs.start(site.id, kept["question"], kept["asked"], len(order.variants), asked_by)
            self._runs.prune(site.id, self._engine.settings.quality.playground_runs)
        except BaseException:
            self._release(len(order.variants))
            raise
        threads = [
            Thread(
                target=self._ask, args=(run.id, number, site, order, variant), name="playground", daemon=True
            )
            for number, variant in enumerate(order.variants)
        ]
        for thread in threads:
            thread.start()
        ended = [id for id, known in list(self._under_way.items()) if not any(t.is_alive() for t in known)]
        for id in ended:
            self._under_way.pop(id, None)
        self._under_way[run.id] = threads
        return run

    def wait(self, run_id: str, seconds: float) -> None:
        """Until every variant of a run that this process asks has ended, or this time is over."""
        until = monotonic() + seconds
        for thread in self._under_way.get(run_id, []):
            thread.join(max(0.0, until - monotonic()))

    def _release(self, count: int) -> None:
        for _ in range(count):
            self._free.release()

    def _ask(self, run_id: str, number: int, site: Site, order: Order, variant: Variant) -> None:
        try:
            state, result = self._result(site, order, variant)
            safe = without_secrets(result, self._engine.settings)
            self._runs.finish(run_id, number, state, safe)
        except StorageError:
            _log.exception("what a run of the playground came to cannot be stored")
        finally:
            self._free.release()

    def _result(self, site: Site, order: Order, variant: Variant) -> tuple[str, dict[str, Any]]:
        seconds = self._engine.settings.quality.playground_seconds
        try:
            asking = Asking(self._engine, site, order, variant, seconds)
        except ModelError as error:
            return FAILED, {"problem": str(error)}
        try:
            return DONE, asking.run()
        except NotBuilt as missing:
            return FAILED, {"problem": str(missing), "plan": asdict(missing.plan), **asking.spent()}
        except OutOfTime:
            problem = f"it took longer than {seconds:g} s, which PLAYGROUND_SECONDS allows"
        except DocentError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001  whatever fails, fails in its own column alone
            _log.exception("a variant of the playground failed")
            problem = f"it failed with {type(error).__name__}; the server's log says more"
        return FAILED, {"problem": problem, "prompts": asking.prompts(), **asking.spent()}
