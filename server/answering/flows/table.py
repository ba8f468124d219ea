"""Every flow: how retrieving, grading and writing follow each other. A new one is one new file and one
new row; any strategy runs under any flow."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.domain.registry import Registry

FLOWS = Registry(
    "flow",
    {
        "direct": "server.answering.flows.direct:DirectFlow",
        "self-rag": "server.answering.flows.self_rag:SelfRagFlow",
        "corrective": "server.answering.flows.corrective:CorrectiveFlow",
    },
)


class Flow(Protocol):
    """From a query that stands alone to the answer."""

    @property
    def name(self) -> str: ...

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Yields text of the final answer alone, verified, and its citations; returns the answer, which
        may be a refusal or a question back. Raises only what storage raises."""

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """The chunks that the flow arrives at, best first, without writing anything."""
