"""How a question becomes an answer: guard, rewrite, retrieve, filter, write, verify, cite."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from server.answering.citations import Citer, with_markers
from server.answering.refusal import refuse
from server.answering.suggestions import next_questions
from server.answering.trace import Trace
from server.answering.verification import Verified, Verifier
from server.domain.answer import Answer, AnswerEvent, Claim, Delta, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.protocols import (
    Clarifier,
    Grader,
    Guard,
    Incidents,
    ModelError,
    Reader,
    Reviewer,
    Rewriter,
    Shortcut,
    Strategy,
    Writer,
)
from server.domain.question import Query, Question
from server.domain.site import Site

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Steps:
    """The parts that one site's answers are made by."""

    guards: Sequence[Guard]
    rewriter: Rewriter
    strategy: Strategy
    grader: Grader
    writers: Sequence[Writer]
    """In order of preference; the last one never fails."""
    page_text: Callable[[str], str]
    incidents: Incidents
    retrieve_limit: int = 10
    address: Callable[[str], str] = str
    """Where a visitor opens a page, by its stored address."""
    shortcuts: Sequence[Shortcut] = ()
    """Asked in turn before anything is retrieved."""
    reader: Reader | None = None
    clarifiers: Sequence[Clarifier] = ()
    reviewers: Sequence[Reviewer] = ()
    remember: Callable[[Question, Answer], None] = lambda question, answer: None
    """Told every answer that was made anew and is not a refusal."""


class Pipeline:
    """Answers the questions of one site. Safe to use from many threads."""

    def __init__(self, site: Site, steps: Steps, origins: frozenset[str]) -> None:
        """Only pages of `origins` are cited."""
        self._site = site
        self._steps = steps
        self._origins = origins

    def answer(self, question: Question) -> Iterator[AnswerEvent]:
        """Deltas and citations as they are verified, then one Answer.

        Raises only what storage raises: a model that fails is replaced by the next writer, and an
        embedder that fails leaves the words.
        """
        trace = Trace()
        with trace.step("guard"):
            stopped = self._guard(question, trace)
        if stopped:
            yield self._finished(refuse(self._site, question.language, ()), trace)
            return
        with trace.step("shortcut"):
            known = self._shortcut(question, trace)
        if known:
            yield self._finished(known, trace)
            return
        with trace.step("rewrite"):
            query = self.rewrite(question)
            trace.note("query", query.text)
        with trace.step("retrieve"):
            found = self._retrieved(query, self._steps.retrieve_limit)
            trace.note_candidates(found)
        with trace.step("filter"):
            kept = self._steps.grader.keep(query, found)
            asked_back = self._asked_back(question, query, kept)
        if asked_back:
            yield self._finished(asked_back, trace)
            return
        answered = yield from self._answered(question, query, found, kept, trace)
        yield self._finished(answered or refuse(self._site, question.language, found), trace)

    def _answered(
        self,
        question: Question,
        query: Query,
        found: Sequence[ScoredChunk],
        kept: Sequence[ScoredChunk],
        trace: Trace,
    ) -> Generator[AnswerEvent, None, Answer | None]:
        if not kept:
            return None
        read = self._steps.reader.widen(kept) if self._steps.reader else kept
        answered = yield from self._write(question, query, read, trace)
        for reviewer in self._steps.reviewers:
            answered = answered and reviewer.review(question, answered, read)
        if not answered:
            return None
        used = frozenset(str(chunk_id) for chunk_id in _noted(trace, "cited"))
        asked = [turn.query or turn.question for turn in question.history]
        finished = replace(answered, suggestions=next_questions(found, used, query.text, asked))
        self._steps.remember(question, self._finished(finished, trace))
        return finished

    def _shortcut(self, question: Question, trace: Trace) -> Answer | None:
        for shortcut in self._steps.shortcuts:
            known = shortcut.answer(question)
            if known:
                trace.note("shortcut", shortcut.name)
                return known
        return None

    def _asked_back(self, question: Question, query: Query, kept: Sequence[ScoredChunk]) -> Answer | None:
        answers = (clarifier.ask_back(question, query, kept) for clarifier in self._steps.clarifiers)
        return next((answer for answer in answers if answer), None)

    def rewrite(self, question: Question) -> Query:
        """The question as it is searched."""
        return self._steps.rewriter.rewrite(question)

    def search(self, question: Question, limit: int) -> list[ScoredChunk]:
        """What is retrieved for a question, best first, before anything is filtered."""
        return self._retrieved(self.rewrite(question), limit)

    def _retrieved(self, query: Query, limit: int) -> list[ScoredChunk]:
        found = self._steps.strategy.retrieve(query, limit)
        return [
            replace(hit, chunk=replace(hit.chunk, url=self._steps.address(hit.chunk.url))) for hit in found
        ]

    def _guard(self, question: Question, trace: Trace) -> bool:
        for guard in self._steps.guards:
            verdict = guard.check(question)
            if not verdict.allowed:
                trace.note("guard", {"name": guard.name, "reason": verdict.reason})
                return True
        return False

    def _write(
        self, question: Question, query: Query, kept: Sequence[ScoredChunk], trace: Trace
    ) -> Generator[AnswerEvent, None, Answer | None]:
        """Tries the writers in turn; returns the answer of the first whose claims hold."""
        for place, writer in enumerate(self._steps.writers):
            attempt = _Attempt(writer, kept, self._citer(kept), question.language, trace)
            try:
                yield from attempt.events(question, query)
            except ModelError as error:
                self._report(question, error.kind, str(error), trace)
                continue
            if attempt.text:
                return attempt.answer()
            last = place == len(self._steps.writers) - 1
            if attempt.removed and not last:
                removed = f"{attempt.removed} claims of {writer.model} were not on the cited pages"
                self._report(question, "unsupported_answer", removed, trace)
            elif not last:
                # A model that says "not in these pages" is believed, not overruled by quotations.
                trace.note("declined_by", writer.model)
                return None
        return None

    def _citer(self, kept: Sequence[ScoredChunk]) -> Citer:
        return Citer(kept, self._origins, self._steps.page_text)

    def _report(self, question: Question, kind: str, message: str, trace: Trace) -> None:
        trace.add_to("incidents", {"kind": kind, "message": message})
        self._steps.incidents.record(question.site_id, kind, message)

    def _finished(self, answer: Answer, trace: Trace) -> Answer:
        notes = {**trace.notes, **answer.trace}
        return replace(
            answer,
            strategy=self._steps.strategy.name,
            flow=self._site.flow,
            timings_ms=dict(trace.timings_ms),
            trace=notes,
        )


class _Attempt:
    """One writer's answer, verified and cited claim by claim."""

    def __init__(
        self, writer: Writer, kept: Sequence[ScoredChunk], citer: Citer, language: str, trace: Trace
    ) -> None:
        self._writer = writer
        self._kept = kept
        self._citer = citer
        self._trace = trace
        self._verifier = Verifier(kept, language)
        self._held: list[Claim] = []
        self.text = ""
        self.removed = 0

    def events(self, question: Question, query: Query) -> Iterator[AnswerEvent]:
        written = iter(self._writer.write(question, query, self._kept))
        while True:
            with self._trace.step("write"):
                claim = next(written, None)
            if claim is None:
                return
            if claim.text.rstrip("*_ ").endswith((":", "：")) and not claim.quote:
                self._held.append(claim)  # an introduction stands only with what it introduces
                continue
            with self._trace.step("verify"):
                verified = self._verifier.verify(claim)
            yield from self._cited(verified)

    def _cited(self, verified: Verified) -> Iterator[AnswerEvent]:
        with self._trace.step("cite"):
            citations, markers = self._citer.cite(verified.proofs)
        if not markers:
            self.removed += 1
            self._trace.add_to("removed", {"claim": verified.claim.text, "reason": verified.reason})
            return
        for proof in verified.proofs:
            self._trace.add_to("cited", self._kept[proof.source].chunk.id)
        held, self._held = self._held, []
        parts = [(claim.before, claim.text) for claim in held]
        parts.append((verified.claim.before, with_markers(verified.claim.text, markers)))
        for before, text in parts:
            more = (before or " ") + text if self.text else text
            self.text += more
            yield Delta(more)
        yield from citations

    def answer(self) -> Answer:
        return Answer(Outcome.ANSWERED, self.text, citations=self._citer.citations, model=self._writer.model)


def _noted(trace: Trace, name: str) -> list[object]:
    value = trace.notes.get(name)
    return value if isinstance(value, list) else []
