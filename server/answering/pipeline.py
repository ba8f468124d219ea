"""How a question becomes an answer: guards, shortcuts, a query that stands alone, then the site's flow."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, replace

from server.answering.claim_notes import settled
from server.answering.direct import DirectFlow
from server.answering.flows import Flow
from server.answering.stages import Stages
from server.answering.steps import Steps
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.domain.site import Site
from server.domain.spending import Spending, counted
from server.retrieval.parts_of_question import compares

__all__ = ["Pipeline", "Steps"]


class Pipeline:
    """Answers the questions of one site. Safe to use from many threads."""

    def __init__(
        self,
        site: Site,
        steps: Steps,
        origins: frozenset[str],
        make_flow: Callable[[Stages], Flow] = DirectFlow,
    ) -> None:
        """Only pages of `origins` are cited."""
        self._stages = Stages(site, steps, origins)
        self._flow = make_flow(self._stages)
        self._steps = steps

    def answer(self, question: Question) -> Iterator[AnswerEvent]:
        """Deltas and citations as they are verified, then one Answer.

        Raises only what storage raises: a model that fails is replaced by the next writer, and an
        embedder that fails leaves the words.
        """
        spending = Spending(question.site_id, self._steps.daily_limit)
        with self._steps.reading():
            yield from counted(self._events(question, spending), spending)

    def forget(self, question: Question) -> None:
        """Makes the answer to `question` anew when it is asked again."""
        self._steps.forget(question)

    def _events(self, question: Question, spending: Spending) -> Generator[AnswerEvent]:
        trace = Trace()
        with trace.step("guard"):
            stopped = self._stages.guarded(question, trace)
        if stopped:
            yield self._finished(self._stages.refusal(question, ()), trace)
            return
        question = self._stages.placed(question, trace)
        with trace.step("shortcut"):
            known = self._stages.shortcut(question, trace)
        if known:
            yield self._finished(known, trace)
            return
        with trace.step("rewrite"):
            query = self.rewrite(question)
            trace.note("query", query.text)
            trace.note("route", "comparison" if compares(question.text) else "lookup")
        answered = yield from self._flow.run(question, query, trace)
        if spending.used.calls:
            trace.note("usage", asdict(spending.used))
        answered = self._finished(answered, trace)
        if answered.outcome is Outcome.ANSWERED:
            self._steps.remember(question, answered)
        yield answered

    def rewrite(self, question: Question) -> Query:
        """The question as it is searched."""
        return self._stages.rewrite(question)

    def search(self, question: Question, limit: int) -> list[ScoredChunk]:
        """The chunks that a question leads to, best first."""
        return self._flow.search(question, self.rewrite(question), limit)

    def _finished(self, answer: Answer, trace: Trace) -> Answer:
        notes = {**trace.notes, **answer.trace}
        if "claims" not in answer.trace:  # an answer that was given before has its own
            claims = [note for note in trace.listed("claims") if isinstance(note, dict)]
            notes |= settled(answer, claims, notes.get("removed_by_grading", ()))
        return replace(
            answer,
            strategy=self._steps.strategy.name,
            flow=self._flow.name,
            timings_ms=dict(trace.timings_ms),
            trace=notes,
        )
