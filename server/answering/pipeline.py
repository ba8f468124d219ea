"""Turns a question into an answer: guards, shortcuts, understanding, then the site's flow (`flows`), which
retrieves, filters, writes, verifies and cites."""

from collections.abc import Callable, Generator
from dataclasses import asdict, replace

from server.answering.flows.direct import DirectFlow
from server.answering.flows.table import Flow
from server.answering.steps import Steps
from server.answering.trace import Trace
from server.answering.understanding.steps import understand
from server.answering.understanding.visitor_page import keep_relevant_page
from server.answering.writing.attempt import claims_for_trace
from server.domain.answer import Answer, AnswerEvent, Delta, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.domain.spending import Spending, counted
from server.metrics import REFUSALS
from server.retrieval.question_kinds import compares


class Pipeline:
    """Answers the questions of one site. Safe to use from many threads."""

    def __init__(self, steps: Steps, make_flow: Callable[[Steps], Flow] = DirectFlow) -> None:
        self.steps = steps
        self._flow = make_flow(steps)

    def answer(self, question: Question) -> Generator[AnswerEvent]:
        """Yield deltas and citations as they are verified, then one Answer.

        Raises only storage errors: the next writer replaces a model that fails, and when the embedder fails
        only words are searched.
        """
        spending = Spending(
            question.site_id,
            self.steps.daily_limit,
            visitor=question.visitor,
            visitor_tokens=self.steps.visitor_tokens,
        )
        with self.steps.reading():
            yield from counted(self._events(question, spending), spending)

    def whole(self, question: Question) -> Answer:
        """Return the finished answer. Raises what `answer` raises."""
        *_, last = self.answer(question)
        assert isinstance(last, Answer), "a pipeline ends with its answer"
        return last

    def rewrite(self, question: Question) -> Query:
        """Return the query that is searched for the question."""
        return understand(question, self.steps.understanding, Trace())

    def search(self, question: Question, limit: int) -> list[ScoredChunk]:
        """Return the chunks found for a question, best first."""
        return self._flow.search(question, self.rewrite(question), limit)

    def forget(self, question: Question) -> None:
        """Drop the cached answer to `question`, so that the next answer is written again."""
        self.steps.forget(question)

    def _events(self, question: Question, spending: Spending) -> Generator[AnswerEvent]:
        steps, trace = self.steps, Trace()
        with trace.step("guard"):
            stopped = self._stopped(question, trace)
        if stopped:
            yield self._finished(steps.refusal(question, None, ()), trace)
            return
        question = keep_relevant_page(question, steps.site, trace)
        with trace.step("shortcut"):
            known = self._shortcut(question, trace)
        if known:
            yield self._finished(known, trace)
            return
        with trace.step("rewrite"):
            query = understand(question, steps.understanding, trace)
            trace.note("query", query.text)
            trace.note("route", "comparison" if compares(question.text) else "lookup")
        answered = yield from self._flow.run(question, query, trace)
        if spending.used.calls:
            trace.note("usage", asdict(spending.used))
        if answered.outcome is Outcome.ANSWERED and (note := steps.note(answered, question.language)):
            yield Delta(f"\n\n{note}")
            answered = replace(answered, text=f"{answered.text}\n\n{note}")
        answered = self._finished(answered, trace)
        if answered.outcome is Outcome.ANSWERED:
            steps.remember(question, answered)
        yield answered

    def _stopped(self, question: Question, trace: Trace) -> bool:
        """Return whether a guard stops the question."""
        for guard in self.steps.guards:
            verdict = guard.check(question)
            if not verdict.allowed:
                REFUSALS.count(guard.name)
                trace.note("guard", {"name": guard.name, "reason": verdict.reason})
                return True
        return False

    def _shortcut(self, question: Question, trace: Trace) -> Answer | None:
        """Return the answer of the first shortcut that has one."""
        for shortcut in self.steps.shortcuts:
            known = shortcut.answer(question)
            if known:
                trace.note("shortcut", shortcut.name)
                return known
        return None

    def _finished(self, answer: Answer, trace: Trace) -> Answer:
        notes = {**trace.notes, **answer.trace}
        if "claims" not in answer.trace:  # a cached answer brings its own
            notes |= claims_for_trace(answer, trace.listed("claims"), notes.get("removed_by_grading", ()))
        return replace(
            answer,
            strategy=self.steps.strategy.name,
            flow=self._flow.name,
            timings_ms=dict(trace.timings_ms),
            trace=notes,
        )
