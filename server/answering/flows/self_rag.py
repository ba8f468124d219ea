"""The flow that grades its own work: retrieve, grade the chunks, write, grade the draft, and try again.

It follows the control flow of Self-RAG and corrects three faults of the published graphs. Everything is
graded against the visitor's own question, not another wording of it. The next draft avoids the last draft's
unsupported claims, or consists of quotations. When the limits are reached, the best draft is given.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from server.answering.flows.graders import Reflection
from server.answering.flows.state_graph import DONE, SEEN, Graph, Route, State, Update
from server.answering.steps import Steps, Writing
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Writer
from server.domain.question import Query, Question
from server.domain.reflection import Draft, Grade

CLEARLY_BETTER = 0.1
"""Difference between two drafts' scores from which one is clearly better."""


@dataclass(frozen=True, slots=True)
class HeldDraft:
    """A draft with the events that send it to the visitor, and its score."""

    draft: Draft
    events: tuple[AnswerEvent, ...]
    score: float = 0.0


def write_draft(
    steps: Steps,
    question: Question,
    query: Query,
    kept: Sequence[ScoredChunk],
    trace: Trace,
    writers: Sequence[Writer] = (),
) -> HeldDraft | None:
    """Return a draft answer from `kept` with the events it would stream; None when no claim is verified."""
    read = steps.read(kept)
    before = len(trace.listed("removed"))
    events: list[AnswerEvent] = []
    written = _collected(steps.write(question, query, read, trace, writers), events)
    if written is None:
        return None
    removed = tuple(note["claim"] for note in trace.listed("removed")[before:])
    seen = steps.seen_by(written.model, query, read)
    return HeldDraft(Draft(written, tuple(seen), removed), tuple(events))


def better(one: HeldDraft | None, other: HeldDraft | None) -> HeldDraft | None:
    """Return the better draft. `other` must be clearly better: new wordings drift from the question."""
    if one is None or other is None:
        return other or one
    return other if other.score > one.score + CLEARLY_BETTER else one


def _collected(writing: Writing, events: list[AnswerEvent]) -> Answer | None:
    while True:
        try:
            events.append(next(writing))
        except StopIteration as ended:
            answer: Answer | None = ended.value
            return answer


@dataclass(frozen=True)
class SelfRagState(State):
    """State of this flow. The last wording in `tried` is searched next."""

    writing: bool = True
    """False when only the search results are needed."""
    first: Sequence[ScoredChunk] = ()
    """Chunks that the standalone question found."""
    asked_back: Answer | None = None
    draft: HeldDraft | None = None
    grounded: Grade | None = None
    best: HeldDraft | None = None
    drafts: int = 0


class SelfRagFlow:
    """Implements Flow."""

    name = "self-rag"

    def __init__(self, steps: Steps, reflection: Reflection) -> None:
        self._steps = steps
        self._reflection = reflection
        nodes = {
            "retrieve": self._retrieve,
            "grade_documents": self._grade_documents,
            "transform_query": self._transform_query,
            "generate": self._generate,
            "grade_groundedness": self._grade_groundedness,
            "quote": self._quote,
            "grade_usefulness": self._grade_usefulness,
        }
        routes: dict[str, Route[SelfRagState]] = {
            "retrieve": "grade_documents",
            "grade_documents": self._after_documents,
            "transform_query": lambda state: DONE if state.exhausted else "retrieve",
            "generate": self._after_draft,
            "grade_groundedness": self._after_groundedness,
            "quote": lambda state: "grade_usefulness" if state.draft else self._again(state),
            "grade_usefulness": self._after_usefulness,
        }
        visits = 5 * (reflection.max_count + reflection.max_retries) + 10
        self._graph: Graph[SelfRagState] = Graph(SelfRagState, nodes, routes, visits)

    def run(self, question: Question, query: Query, trace: Trace) -> Generator[AnswerEvent, None, Answer]:
        """Yield the events of the best draft once it has been graded; raise only storage errors."""
        end = self._graph.run(SelfRagState(question, (query,), trace, limit=0))
        best = end.best
        if best:
            yield from best.events
            return self._steps.with_suggestions(best.draft.answer, question, query, end.found, trace)
        return end.asked_back or self._steps.refusal(question, query, end.first)

    def search(self, question: Question, query: Query, limit: int) -> list[ScoredChunk]:
        """Return the last retrieval's chunks if any were kept, else those that the question itself found."""
        end = self._graph.run(SelfRagState(question, (query,), Trace(), limit, writing=False))
        return list(end.found if end.kept else end.first)

    def _retrieve(self, state: SelfRagState) -> Update:
        searched, standalone = state.tried[-1], state.tried[0]
        with state.trace.step("retrieve"):
            found = self._steps.retrieve(searched, state.trace, state.limit)
            if searched != standalone:
                found = self._reflection.compared(standalone, found)
            state.trace.note_candidates(found)
        return {
            "found": found,
            "first": state.first or found,
            "retrievals": state.retrievals + 1,
            SEEN: {"query": searched.text, "found": len(found)},
        }

    def _grade_documents(self, state: SelfRagState) -> Update:
        standalone = state.tried[0]
        with state.trace.step("filter"):
            among = state.found[: self._steps.retrieve_limit]
            kept = self._steps.keep(self._reflection.documents, standalone, among, state.trace)
            asked_back = None
            if state.writing and kept and not state.drafts:
                asked_back = self._steps.asked_back(state.question, standalone, kept)
        return {"kept": kept, "asked_back": asked_back, SEEN: {"kept": [hit.chunk.id for hit in kept]}}

    def _after_documents(self, state: SelfRagState) -> str:
        if state.kept:
            if not state.writing or state.asked_back:
                return DONE
            return "generate" if state.drafts < self._reflection.max_retries else DONE
        return self._again(state)

    def _again(self, state: SelfRagState) -> str:
        return "transform_query" if state.retrievals < self._reflection.max_count else DONE

    def _transform_query(self, state: SelfRagState) -> Update:
        with state.trace.step("transform"):
            other = self._reflection.transformer.transform(
                state.question, state.tried, state.found or state.first
            )
        if other is None or other.text in [query.text for query in state.tried]:
            return {"exhausted": True, SEEN: {"query": ""}}
        return {"tried": (*state.tried, other), SEEN: {"query": other.text}}

    def _generate(self, state: SelfRagState) -> Update:
        grade = state.grounded
        unsupported = grade.reasons if grade and not grade.passed else ()
        question = replace(state.question, avoid=unsupported) if unsupported else state.question
        held = write_draft(self._steps, question, state.tried[0], state.kept, state.trace)
        seen = {"draft": held.draft.answer.text if held else "", "told_to_avoid": list(unsupported)}
        return {"draft": held, "grounded": None, "drafts": state.drafts + 1, SEEN: seen}

    def _after_draft(self, state: SelfRagState) -> str:
        return "grade_groundedness" if state.draft else self._again(state)

    def _grade_groundedness(self, state: SelfRagState) -> Update:
        held = state.draft
        assert held is not None, "only a draft is graded"
        with state.trace.step("grade"):
            grade = self._reflection.groundedness.grade(state.question, held.draft)
        return {"grounded": grade, SEEN: {"passed": grade.passed, "unsupported": list(grade.reasons)}}

    def _after_groundedness(self, state: SelfRagState) -> str:
        grade = state.grounded
        if grade and grade.passed:
            return "grade_usefulness"
        return "generate" if state.drafts < self._reflection.max_retries else "quote"

    def _quote(self, state: SelfRagState) -> Update:
        """Replace a draft that stayed ungrounded by quotations from the last writer."""
        held = write_draft(
            self._steps,
            state.question,
            state.tried[0],
            state.kept,
            state.trace,
            self._steps.writers[-1:],
        )
        return {"draft": held, SEEN: {"draft": held.draft.answer.text if held else ""}}

    def _grade_usefulness(self, state: SelfRagState) -> Update:
        held = state.draft
        assert held is not None, "only a draft is graded"
        with state.trace.step("grade"):
            grade = self._reflection.usefulness.grade(state.question, state.tried[0], held.draft)
        best = better(state.best, replace(held, score=grade.score + grade.passed))
        return {
            "best": best,
            "draft": held if grade.passed else None,
            SEEN: {"passed": grade.passed, "score": round(grade.score, 3), "missing": list(grade.reasons)},
        }

    def _after_usefulness(self, state: SelfRagState) -> str:
        if state.draft or state.drafts >= self._reflection.max_retries:
            return DONE
        return self._again(state)
