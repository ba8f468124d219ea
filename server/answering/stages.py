"""What every flow does on the way from a question to an answer, each thing once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from server.answering.attempt import Attempt
from server.answering.citations import Citer
from server.answering.grading import EvidenceGrader
from server.answering.placing import placed
from server.answering.refusal import refuse
from server.answering.steps import Steps
from server.answering.suggestions import next_questions
from server.answering.trace import Trace
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Grader, ModelError, Writer
from server.domain.question import Query, Question
from server.domain.site import Site

Writing = Generator[AnswerEvent, None, Answer | None]


class Stages:
    """The stages of an answer for one site. Safe to use from many threads."""

    def __init__(self, site: Site, steps: Steps, origins: frozenset[str]) -> None:
        """Only pages of `origins` are cited."""
        self.steps = steps
        self._site = site
        self._origins = origins

    def guarded(self, question: Question, trace: Trace) -> bool:
        """Whether a guard stops the question."""
        for guard in self.steps.guards:
            verdict = guard.check(question)
            if not verdict.allowed:
                trace.note("guard", {"name": guard.name, "reason": verdict.reason})
                return True
        return False

    def placed(self, question: Question, trace: Trace) -> Question:
        """The question with the page that it was asked on where it points at it, else without."""
        return placed(question, self._site, trace)

    def shortcut(self, question: Question, trace: Trace) -> Answer | None:
        """The answer of the first shortcut that has one."""
        for shortcut in self.steps.shortcuts:
            known = shortcut.answer(question)
            if known:
                trace.note("shortcut", shortcut.name)
                return known
        return None

    def rewrite(self, question: Question) -> Query:
        """The question as it is searched."""
        return self.steps.rewriter.rewrite(question)

    def retrieve(self, query: Query, limit: int = 0) -> list[ScoredChunk]:
        """Best first, with the addresses that visitors open; `limit` 0 for that of the steps."""
        found = self.steps.strategy.retrieve(query, limit or self.steps.retrieve_limit)
        return [
            replace(hit, chunk=replace(hit.chunk, url=self.steps.address(hit.chunk.url))) for hit in found
        ]

    def keep(
        self, grader: Grader, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> list[ScoredChunk]:
        """What `grader` keeps of what was found; noted with the evidence, where the floor decides."""
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
        answers = (clarifier.ask_back(question, query, kept) for clarifier in self.steps.clarifiers)
        return next((answer for answer in answers if answer), None)

    def read(self, kept: Sequence[ScoredChunk]) -> Sequence[ScoredChunk]:
        """The kept chunks with as much around them as the writer is to see."""
        return self.steps.reader.widen(kept) if self.steps.reader and kept else kept

    def write(
        self,
        question: Question,
        query: Query,
        read: Sequence[ScoredChunk],
        trace: Trace,
        writers: Sequence[Writer] = (),
    ) -> Writing:
        """Tries the writers in turn (those of the steps unless others are given) and has the answer of the
        first whose claims hold reviewed. None when nothing holds, or when a model says that the chunks do
        not answer."""
        answered = yield from self._written(question, query, read, trace, writers or self.steps.writers)
        for reviewer in self.steps.reviewers:
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
            verifier = self.steps.verifier(read, question.language)
            attempt = Attempt(writer, read, self._citer(read), verifier, trace)
            try:
                yield from attempt.events(question, query)
            except ModelError as error:
                self.report(question, error.kind, str(error), trace)
                continue
            finally:
                if attempt.leaked:
                    message = f"{writer.model} repeated what it was told; nothing of it was shown"
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

    def suggested(
        self, answer: Answer, question: Question, query: Query, found: Sequence[ScoredChunk], trace: Trace
    ) -> Answer:
        """The answer with next questions that the site can answer."""
        used = frozenset(str(chunk_id) for chunk_id in trace.listed("cited"))
        asked = [turn.query or turn.question for turn in question.history]
        return replace(answer, suggestions=next_questions(found, used, query.text, asked))

    def refusal(self, question: Question, found: Sequence[ScoredChunk]) -> Answer:
        """The honest answer when the site has none, unless a fallback knows one."""
        answers = (fallback.answer(question) for fallback in self.steps.fallbacks)
        known = next((answer for answer in answers if answer), None)
        return known or refuse(self._site, question.language, found)

    def report(self, question: Question, kind: str, message: str, trace: Trace) -> None:
        """An incident, for the operator."""
        trace.add_to("incidents", {"kind": kind, "message": message})
        self.steps.incidents.record(question.site_id, kind, message)

    def _citer(self, kept: Sequence[ScoredChunk]) -> Citer:
        return Citer(kept, self._origins, self.steps.page_text, self.steps.site_text)
