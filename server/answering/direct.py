"""The flow that asks everything once: retrieve, filter, write."""

from __future__ import annotations

from collections.abc import Generator

from server.answering.reflection.parts import Reflection
from server.answering.stages import Stages
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question


class DirectFlow:
    """Implements Flow. What holds is yielded while it is written."""

    name = "direct"

    def __init__(self, stages: Stages, reflection: Reflection | None = None) -> None:
        """`reflection` is what other flows are made of: this one grades once."""
        self._stages = stages

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Raises only what storage raises."""
        stages = self._stages
        with trace.step("retrieve"):
            found = stages.retrieve(query)
            trace.note_candidates(found)
        with trace.step("filter"):
            kept = stages.keep(stages.steps.grader, query, found, trace)
            asked_back = stages.asked_back(question, query, kept)
        if asked_back:
            return asked_back
        if not kept:
            return stages.refusal(question, found)
        answered = yield from stages.write(question, query, stages.read(kept), trace)
        if not answered:
            return stages.refusal(question, found)
        return stages.suggested(answered, question, query, found, trace)

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """What is retrieved, before anything is filtered."""
        return self._stages.retrieve(query, limit)
