"""Corrective RAG: grades the retrieval and improves it before writing.

A retrieval is correct, ambiguous or incorrect. The published flow then searches the web. This one searches
the site again with a larger limit and another wording, because nothing else may be cited.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from server.answering.flows.graders import Reflection, refined
from server.answering.flows.state_graph import DONE, SEEN, Graph, Route, State, Update
from server.answering.steps import Steps
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question

WIDER = 3
"""The second search returns this many times the usual number of chunks."""


SURE = 0.75
"""Answerability from which a retrieval counts as correct."""


class Retrieval(StrEnum):
    """Verdict on a retrieval."""

    CORRECT = "correct"
    """The first result is relevant and the evidence is good."""
    AMBIGUOUS = "ambiguous"
    """Some result is relevant, but the evidence is weak or another result ranked first."""
    INCORRECT = "incorrect"


@dataclass(frozen=True)
class CorrectiveState(State):
    """State of this flow."""

    read: Sequence[ScoredChunk] = ()
    """Chunks for the writer: the kept chunks with the text around them, without irrelevant paragraphs."""
    worth: Retrieval = Retrieval.INCORRECT


class CorrectiveFlow:
    """Implements Flow."""

    name = "corrective"

    def __init__(self, steps: Steps, reflection: Reflection) -> None:
        self._steps = steps
        self._reflection = reflection
        nodes = {
            "retrieve": self._retrieve,
            "grade_retrieval": self._grade_retrieval,
            "search_wider": self._search_wider,
            "refine": self._refine,
        }
        routes: dict[str, Route[CorrectiveState]] = {
            "retrieve": "grade_retrieval",
            "grade_retrieval": self._after_grade,
            "search_wider": lambda state: self._finish(state) if state.exhausted else "grade_retrieval",
            "refine": DONE,
        }
        self._graph: Graph[CorrectiveState] = Graph(
            CorrectiveState, nodes, routes, 3 * reflection.max_count + 10
        )

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Yield verified text while it is written; raise only storage errors."""
        end = self._graph.run(CorrectiveState(question, (query,), trace, limit=0))
        steps, kept = self._steps, end.kept
        asked_back = steps.asked_back(question, query, kept)
        if asked_back:
            return asked_back
        if not kept:
            return steps.refusal(question, query, end.found)
        answered = yield from steps.write(question, query, end.read, trace)
        if not answered:
            return steps.refusal(question, query, end.found)
        return steps.with_suggestions(answered, question, query, end.found, trace)

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """Return the kept chunks, then the rest of the results."""
        end = self._graph.run(CorrectiveState(question, (query,), Trace(), limit))
        kept = {hit.chunk.id for hit in end.kept}
        return [*end.kept, *(hit for hit in end.found if hit.chunk.id not in kept)]

    def _retrieve(self, state: CorrectiveState) -> Update:
        with state.trace.step("retrieve"):
            found = self._steps.retrieve(state.tried[0], state.trace, state.limit)
            state.trace.note_candidates(found)
        return {"found": found, "retrievals": 1, SEEN: {"query": state.tried[0].text, "found": len(found)}}

    def _grade_retrieval(self, state: CorrectiveState) -> Update:
        with state.trace.step("filter"):
            among = state.found[: WIDER * self._steps.retrieve_limit]
            kept = self._steps.keep(self._reflection.documents, state.tried[0], among, state.trace)
        worth = self._worth(state.tried[0], among, kept)
        return {
            "kept": kept,
            "worth": worth,
            SEEN: {"worth": worth.value, "kept": [h.chunk.id for h in kept]},
        }

    def _worth(self, query: Query, found: Sequence[ScoredChunk], kept: Sequence[ScoredChunk]) -> Retrieval:
        if not kept:
            return Retrieval.INCORRECT
        # A model may have kept a chunk that did not rank first.
        first = found[0].chunk.id == kept[0].chunk.id
        sure = first and self._reflection.confidence(query, kept) >= SURE
        return Retrieval.CORRECT if sure else Retrieval.AMBIGUOUS

    def _after_grade(self, state: CorrectiveState) -> str:
        # An ambiguous retrieval is retried once, an incorrect one until the limit.
        tries = {Retrieval.CORRECT: 1, Retrieval.AMBIGUOUS: 2}.get(state.worth, self._reflection.max_count)
        if state.retrievals >= min(tries, self._reflection.max_count):
            return self._finish(state)
        return "search_wider"

    def _finish(self, state: CorrectiveState) -> str:
        return "refine" if state.kept else DONE

    def _search_wider(self, state: CorrectiveState) -> Update:
        """Search another wording for more chunks; the chunks kept so far stay in front."""
        with state.trace.step("transform"):
            other = self._reflection.transformer.transform(state.question, state.tried, state.found)
        if other is None:
            return {"exhausted": True, SEEN: {"query": ""}}
        with state.trace.step("retrieve"):
            usual = state.limit or self._steps.retrieve_limit
            wider = self._steps.retrieve(other, state.trace, WIDER * usual)
            more = self._reflection.compared(state.tried[0], wider)
            found = _joined(state.kept, more, state.found)
            state.trace.note_candidates(found)
        return {
            "tried": (*state.tried, other),
            "found": found,
            "retrievals": state.retrievals + 1,
            SEEN: {"query": other.text, "found": len(more)},
        }

    def _refine(self, state: CorrectiveState) -> Update:
        with state.trace.step("filter"):
            read = self._steps.read(state.kept)
            left = refined(state.tried[0], read, self._reflection.strips)
        before, after = (sum(len(hit.chunk.text) for hit in hits) for hits in (read, left))
        return {"read": left, SEEN: {"characters": before, "left": after}}


def _joined(*parts: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return each chunk once, in order of first appearance."""
    joined: dict[str, ScoredChunk] = {}
    for hit in (hit for part in parts for hit in part):
        joined.setdefault(hit.chunk.id, hit)
    return list(joined.values())
