"""All flows: the order of retrieving, grading and writing. A new flow is one new file and one new row. Any
strategy runs in any flow."""

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
    """Produces the answer to a query that can be understood alone."""

    @property
    def name(self) -> str: ...

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Yield the verified text and citations of the final answer only. Return the answer, which may be a
        refusal or a clarifying question. Raises only storage errors."""

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """Return the chunks that the flow would answer from, best first, without writing an answer."""
