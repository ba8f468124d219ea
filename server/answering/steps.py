"""The parts that one site's answers are made by, and the moves that every flow makes with them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Protocol

from server.answering.grading import EvidenceGrader
from server.answering.trace import Trace
from server.answering.understanding.steps import UnderstandingStep
from server.answering.verifying.citations import Citer
from server.answering.verifying.verifier import Verifier
from server.answering.writing.attempt import Attempt
from server.answering.writing.refusal import refuse
from server.answering.writing.suggestions import next_questions
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.protocols import (
    Clarifier,
    Grader,
    Guard,
    Incidents,
    ModelError,
    Reader,
    Retriever,
    Reviewer,
    Shortcut,
    Writer,
)
from server.domain.question import Query, Question
from server.domain.site import Site
from server.domain.spending import DailyLimit

Writing = Generator[AnswerEvent, None, Answer | None]


@dataclass(frozen=True, slots=True)
class Steps:
    """Every flow is made of the same parts. Safe to use from many threads."""

    site: Site
    origins: frozenset[str]
    """Only pages of these are cited."""
    guards: Sequence[Guard]
    understanding: Sequence[UnderstandingStep]
    """Walked in order, from the question to its query."""
    strategy: Retriever
    grader: Grader
    writers: Sequence[Writer]
    """In order of preference; the last one never fails."""
    page_text: Callable[[str], str]
    """What is indexed of a page, by the address that visitors open."""
    incidents: Incidents
    retrieve_limit: int = 10
    retrieval_steps: Sequence[RetrievalStep] = ()
    """Walked in order after the strategy."""
    site_text: Callable[[str], str | None] = lambda url: None
    """What the website says on a page of which an operator corrected what is indexed; None for any other."""
    address: Callable[[str], str] = str
    """Where a visitor opens a page, by its stored address."""
    shortcuts: Sequence[Shortcut] = ()
    """Asked in turn before anything is retrieved."""
    fallbacks: Sequence[Shortcut] = ()
    """Asked in turn before a refusal is given."""
    reader: Reader | None = None
    verifier: Callable[[Sequence[ScoredChunk], str], Verifier] = Verifier
    """Called once per answer, with the chunks that were read and the answer's language."""
    clarifiers: Sequence[Clarifier] = ()
    reviewers: Sequence[Reviewer] = ()
    remember: Callable[[Question, Answer], None] = lambda question, answer: None
    """Called with every new answer that is not a refusal."""
    forget: Callable[[Question], None] = lambda question: None
    """Takes back what `remember` was given."""
    reading: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around one question: the words of the site are seen in one state, see WordSearch.reading."""
    daily_limit: DailyLimit = field(default_factory=DailyLimit)
    """What models may take for the site in a day; then the last writer answers."""

    def retrieve(self, query: Query, trace: Trace, limit: int = 0) -> list[ScoredChunk]:
        """Best first, with the addresses that visitors open; `limit` 0 for that of the steps."""
        limit = limit or self.retrieve_limit
        trace.add_to("steps", f"search: {self.strategy.name}")
        found = self.strategy.retrieve(query, limit)
        for step in self.retrieval_steps:
            trace.add_to("steps", step.name)
            found = step.refine(query, found, limit)
        return [self._opened(hit) for hit in found]

    def _opened(self, hit: ScoredChunk) -> ScoredChunk:
        """With the address that visitors open."""
        url = self.address(hit.chunk.url)
        return hit if url == hit.chunk.url else replace(hit, chunk=replace(hit.chunk, url=url))

    def keep(
        self, grader: Grader, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> list[ScoredChunk]:
        """What `grader` keeps of the results; noted with the evidence, where the floor decides."""
        if not isinstance(grader, EvidenceGrader):
            kept = grader.keep(query, found)
            trace.note("floor", None)
        else:
            judged = grader.judged(query, found)
            kept = judged.kept
            known = judged.answerability is not None
            evidence = {"answerability": round(judged.answerability or 0.0, 3), "floor": judged.floor}
            trace.note("floor", evidence if known else None)
        trace.note("kept", [hit.chunk.id for hit in kept])
        return kept

    def asked_back(self, question: Question, query: Query, kept: Sequence[ScoredChunk]) -> Answer | None:
        """A question to the visitor, where it is not clear what is meant."""
        answers = (clarifier.ask_back(question, query, kept) for clarifier in self.clarifiers)
        return next((answer for answer in answers if answer), None)

    def read(self, kept: Sequence[ScoredChunk]) -> Sequence[ScoredChunk]:
        """The kept chunks with as much around them as the writer is to see."""
        return self.reader.widen(kept) if self.reader and kept else kept

    def write(
        self,
        question: Question,
        query: Query,
        read: Sequence[ScoredChunk],
        trace: Trace,
        writers: Sequence[Writer] = (),
    ) -> Writing:
        """Write, verify and cite: try the writers in turn (`self.writers` unless others are given) and
        review the answer of the first whose claims hold. None when nothing holds, or when a model says
        that the chunks do not answer."""
        answered = yield from self._written(question, query, read, trace, writers or self.writers)
        for reviewer in self.reviewers:
            answered = answered and reviewer.review(question, answered, read)
        return answered

    def _written(
        self,
        question: Question,
        query: Query,
        read: Sequence[ScoredChunk],
        trace: Trace,
        writers: Sequence[Writer],
    ) -> Writing:
        for place, writer in enumerate(writers):
            citer = Citer(read, self.origins, self.page_text, self.site_text)
            attempt = Attempt(writer, read, citer, self.verifier(read, question.language), trace)
            try:
                yield from attempt.events(question, query)
            except ModelError as error:
                self.report(question, error.kind, str(error), trace)
                continue
            finally:
                if attempt.leaked:
                    message = f"{writer.model} repeated its instructions; nothing of it was shown"
                    self.report(question, "prompt_leak", message, trace)
            if attempt.text:
                return attempt.answer()
            last = place == len(writers) - 1
            if attempt.removed and not last:
                removed = f"{len(attempt.removed)} claims of {writer.model} were not on the cited pages"
                self.report(question, "unsupported_answer", removed, trace)
            elif not last:
                # A model that says "not in these pages" is believed, not overruled by quotations.
                trace.note("declined_by", writer.model)
                return None
        return None

    def with_suggestions(
        self, answer: Answer, question: Question, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> Answer:
        """The answer with next questions that the site can answer."""
        used = frozenset(str(chunk_id) for chunk_id in trace.listed("cited"))
        asked = [turn.query or turn.question for turn in question.history]
        return replace(answer, suggestions=next_questions(found, used, query.text, asked))

    def refusal(self, question: Question, found: Sequence[ScoredChunk]) -> Answer:
        """The honest answer when the site has none, unless a fallback knows one."""
        answers = (fallback.answer(question) for fallback in self.fallbacks)
        known = next((answer for answer in answers if answer), None)
        return known or refuse(self.site, question.language, found)

    def report(self, question: Question, kind: str, message: str, trace: Trace) -> None:
        """An incident, for the operator."""
        trace.add_to("incidents", {"kind": kind, "message": message})
        self.incidents.record(question.site_id, kind, message)


class RetrievalStep(Protocol):
    """One change to what a strategy found: more queries, preferred pages, an operator's rules."""

    @property
    def name(self) -> str:
        """Recorded in the trace."""

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Best first, at most `limit`. `found` is what the step before returned."""
