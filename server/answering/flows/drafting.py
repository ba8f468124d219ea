"""Drafts that are graded before the visitor sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from server.answering.steps import Steps, Writing
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Writer
from server.domain.question import Query, Question
from server.domain.reflection import Draft

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
    removed = tuple(str(item.get("claim")) for item in _rows(trace.listed("removed")[before:]))
    seen = steps.seen_by(written.model, query, read)
    return HeldDraft(Draft(written, tuple(seen), removed), tuple(events))


def better(one: HeldDraft | None, other: HeldDraft | None) -> HeldDraft | None:
    """Return the better draft. `other` must be clearly better: new wordings drift from the question."""
    if one is None or other is None:
        return other or one
    return other if other.score > one.score + CLEARLY_BETTER else one


def scored(held: HeldDraft, score: float) -> HeldDraft:
    """Return the draft with this score."""
    return replace(held, score=score)


def _collected(writing: Writing, events: list[AnswerEvent]) -> Answer | None:
    while True:
        try:
            events.append(next(writing))
        except StopIteration as ended:
            answer: Answer | None = ended.value
            return answer


def _rows(notes: Sequence[object]) -> list[dict[str, object]]:
    return [note for note in notes if isinstance(note, dict)]
