"""The parts of one site's pipeline, and the operations that every flow builds on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Protocol

from server.answering.grading import EvidenceGrader
from server.answering.phrases import Phrase, say
from server.answering.ranking import POOL
from server.answering.trace import Trace
from server.answering.understanding.steps import UnderstandingStep
from server.answering.verifying.citations import Citer
from server.answering.verifying.verifier import Verifier
from server.answering.writing.attempt import Attempt
from server.answering.writing.plan import ReadingPlan
from server.answering.writing.reading import NeighbourReader
from server.answering.writing.refusal import refuse
from server.answering.writing.suggestions import next_questions
from server.domain.answer import EMBEDDED, Answer, AnswerEvent, Delta
from server.domain.chunk import ScoredChunk
from server.domain.protocols import (
    Clarifier,
    Grader,
    Guard,
    Incidents,
    ModelError,
    Retriever,
    Reviewer,
    Shortcut,
    Writer,
)
from server.domain.question import Query, Question
from server.domain.site import Site
from server.domain.spending import DailyLimit

Writing = Generator[AnswerEvent, None, Answer | None]

_UNVERIFIABLE = (
    "the chat model was not asked: nothing compares an answer in {!r} with these pages; "
    "set EMBEDDING_MODEL to one that reads both languages"
)


@dataclass(frozen=True, slots=True)
class Steps:
    """Parts that every flow uses. Safe to use from many threads."""

    site: Site
    origins: frozenset[str]
    """Only pages of these origins are cited."""
    guards: Sequence[Guard]
    understanding: Sequence[UnderstandingStep]
    """Applied in order, from the question to its query."""
    strategy: Retriever
    grader: Grader
    writers: Sequence[Writer]
    """Writers in order of preference; the last one never fails."""
    page_text: Callable[[str], str]
    """Returns the indexed text of a page, by the address that visitors open."""
    incidents: Incidents
    retrieve_limit: int = 10
    retrieval_steps: Sequence[RetrievalStep] = ()
    """Applied in order after the strategy."""
    site_text: Callable[[str], str | None] = lambda url: None
    """Returns the website's own text of a page whose indexed text an operator corrected; else None."""
    address: Callable[[str], str] = str
    """Returns the address that visitors open, by the stored address."""
    shortcuts: Sequence[Shortcut] = ()
    """Tried in turn before anything is retrieved."""
    fallbacks: Sequence[Shortcut] = ()
    """Tried in turn before a refusal is given."""
    person: Callable[[str], tuple[str, tuple[str, str] | None]] = lambda language: ("", None)
    """Returns a line on how to reach a person, in a language, and the page that it links."""
    reader: NeighbourReader | None = None
    plan: Callable[[Query, Sequence[ScoredChunk]], Sequence[ScoredChunk]] = ReadingPlan(lambda url: ()).apply
    """Chooses and sorts what a model sees of the chunks that were read."""
    verifier: Callable[[Sequence[ScoredChunk], str], Verifier] = Verifier
    """Called once per answer, with the chunks that were read and the answer's language."""
    clarifiers: Sequence[Clarifier] = ()
    reviewers: Sequence[Reviewer] = ()
    remember: Callable[[Question, Answer], None] = lambda question, answer: None
    """Called with every new answer that is not a refusal."""
    forget: Callable[[Question], None] = lambda question: None
    """Drops the answer that `remember` stored for a question."""
    reading: Callable[[], AbstractContextManager[None]] = nullcontext
    """Wraps each question, so that it sees one state of the word index (see SqlWordIndex.reading)."""
    note: Callable[[Answer, str], str] = lambda answer, language: ""
    """Returns the line to put under an answer, in a language: that its pages are about the past."""
    daily_limit: DailyLimit = field(default_factory=DailyLimit)
    """Daily limit on model use for the site. After that the last writer answers."""
    visitor_tokens: int = 0
    """The same for each visitor, in tokens; 0 means no limit."""

    def retrieve(self, query: Query, trace: Trace, limit: int = 0) -> list[ScoredChunk]:
        """Return chunks, best first, with the addresses that visitors open; 0 means `retrieve_limit`."""
        limit = limit or self.retrieve_limit
        trace.add_to("steps", f"search: {self.strategy.name}")
        found: Sequence[ScoredChunk] = self.strategy.retrieve(query, max(limit, POOL))
        for step in self.retrieval_steps:
            trace.add_to("steps", step.name)
            found = step.refine(query, found, max(limit, POOL))
        return [self._opened(hit) for hit in found[:limit]]

    def _opened(self, hit: ScoredChunk) -> ScoredChunk:
        """Return the hit with the address that visitors open."""
        url = self.address(hit.chunk.url)
        return hit if url == hit.chunk.url else replace(hit, chunk=replace(hit.chunk, url=url))

    def keep(
        self, grader: Grader, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> list[ScoredChunk]:
        """Return the results that `grader` keeps. Notes them in the trace, with the floor if it decides."""
        if not isinstance(grader, EvidenceGrader):
            kept = grader.keep(query, found)
            trace.note("floor", None)
        else:
            graded = grader.grade(query, found)
            kept = graded.kept
            known = graded.answerability is not None
            evidence = {"answerability": round(graded.answerability or 0.0, 3), "floor": graded.floor}
            trace.note("floor", evidence if known else None)
            trace.note("doubtful", graded.is_doubtful)
        trace.note("kept", [hit.chunk.id for hit in kept])
        return kept

    def asked_back(self, question: Question, query: Query, kept: Sequence[ScoredChunk]) -> Answer | None:
        """Return a clarifying question to the visitor, or None when the question is clear."""
        answers = (clarifier.ask_back(question, query, kept) for clarifier in self.clarifiers)
        return next((answer for answer in answers if answer), None)

    def read(self, kept: Sequence[ScoredChunk]) -> Sequence[ScoredChunk]:
        """Return the kept chunks, widened by the text around them that the writer sees."""
        return self.reader.widen(kept) if self.reader and kept else kept

    def write(
        self,
        question: Question,
        query: Query,
        read: Sequence[ScoredChunk],
        trace: Trace,
        writers: Sequence[Writer] = (),
    ) -> Writing:
        """Write, verify and cite. Tries the writers in turn (by default `self.writers`) and reviews the
        answer of the first one whose claims can be verified. Returns None when no claim can, or when a
        model says that the chunks do not answer."""
        writers = writers or self.writers
        for place, writer in enumerate(writers):
            seen = self.seen_by(writer.model, query, read)
            citer = Citer(seen, self.origins, self.page_text, self.site_text)
            verifier = self.verifier(seen, question.language)
            if writer.model != EMBEDDED and seen and not verifier.can_verify():
                self.report(question, "unsupported_answer", _UNVERIFIABLE.format(question.language), trace)
                continue
            # A model says itself what its sources leave open; a quotation cannot.
            doubtful = writer.model == EMBEDDED and trace.notes.get("doubtful")
            opening = f"{say(Phrase.DOUBTFUL, question.language)}\n\n" if doubtful else ""
            attempt = Attempt(writer, seen, citer, verifier, trace, opening)
            try:
                yield from attempt.events(question, query)
            except ModelError as error:
                self.report(question, error.kind, str(error), trace)
                if attempt.text:  # the next writer begins again
                    yield Delta("\n\n")
                continue
            finally:
                if attempt.leaked:
                    message = f"{writer.model} repeated its instructions; nothing of it was shown"
                    self.report(question, "prompt_leak", message, trace)
            if attempt.text:
                return self._reviewed(question, attempt.answer(), seen)
            last = place == len(writers) - 1
            if attempt.removed and not last:
                removed = (
                    f"{len(attempt.removed)} claims of {writer.model} were not on the cited pages, "
                    f"the first because: {attempt.why}"
                )
                self.report(question, "unsupported_answer", removed, trace)
            elif not last:
                # When a model says that the pages do not answer, quotations do not overrule it.
                trace.note("declined_by", writer.model)
                return None
        return None

    def seen_by(self, writer: str, query: Query, read: Sequence[ScoredChunk]) -> Sequence[ScoredChunk]:
        """Return what a writer sees of the chunks that were read: a model what the question needs."""
        return read if writer == EMBEDDED else self.plan(query, read)

    def _reviewed(self, question: Question, answer: Answer, seen: Sequence[ScoredChunk]) -> Answer | None:
        reviewed: Answer | None = answer
        for reviewer in self.reviewers:
            reviewed = reviewed and reviewer.review(question, reviewed, seen)
        return reviewed

    def with_suggestions(
        self, answer: Answer, question: Question, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> Answer:
        """Return the answer with suggestions of questions that the site can answer."""
        used = frozenset(str(chunk_id) for chunk_id in trace.listed("cited"))
        # A chip with the site's title alone would ask nothing.
        asked = [self.site.title, *(turn.query or turn.question for turn in question.history)]
        return replace(answer, suggestions=next_questions(found, used, query.text, asked))

    def refusal(self, question: Question, query: Query | None, found: Sequence[ScoredChunk]) -> Answer:
        """Return the first fallback's answer, or a refusal. Without a `query`, nothing was searched."""
        answers = (fallback.answer(question) for fallback in self.fallbacks)
        known = next((answer for answer in answers if answer), None)
        if known:
            return known
        unsure = False
        if query is not None and isinstance(self.grader, EvidenceGrader):
            unsure = self.grader.unsure(query, found)
        person = self.person(question.language)
        return refuse(self.site, question.language, found, unsure=unsure, query=query, person=person)

    def report(self, question: Question, kind: str, message: str, trace: Trace) -> None:
        """Record an incident for the operator."""
        trace.add_to("incidents", {"kind": kind, "message": message})
        self.incidents.record(question.site_id, kind, message)


class RetrievalStep(Protocol):
    """A change to the strategy's results: more queries, preferred pages, an operator's rules."""

    @property
    def name(self) -> str:
        """The name in the trace."""

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return at most `limit` chunks, best first. `found` is the previous step's result."""
