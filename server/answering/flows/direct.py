"""The flow that does each step once: retrieve, filter, write."""

from collections.abc import Generator

from server.answering.flows.graders import Reflection
from server.answering.steps import Steps
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question


class DirectFlow:
    """Implements Flow. Yields verified text while it is written."""

    name = "direct"

    def __init__(self, steps: Steps, reflection: Reflection | None = None) -> None:
        """Ignores `reflection`, which other flows use: this one grades only once."""
        self._steps = steps

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Yield the answer's events and return the answer; raise only storage errors."""
        steps = self._steps
        with trace.step("retrieve"):
            found = steps.retrieve(query, trace)
            trace.note_candidates(found)
        with trace.step("filter"):
            kept = steps.keep(steps.grader, query, found, trace)
            asked_back = steps.asked_back(question, query, kept)
        if asked_back:
            return asked_back
        if not kept:
            return steps.refusal(question, query, found)
        answered = yield from steps.write(question, query, steps.read(kept), trace)
        if not answered:
            return steps.refusal(question, query, found)
        return steps.with_suggestions(answered, question, query, found, trace)

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """Return the retrieved chunks, before filtering."""
        return self._steps.retrieve(query, Trace(), limit)
