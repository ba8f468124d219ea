"""Asks a site every question of a file, as a visitor would, and judges what comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

from server.answering.understanding.language import question_language
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question, Turn
from server.evaluation.judging import judge
from server.evaluation.questions import Case
from server.evaluation.rows import EvaluatedRow, row_of

PAGES = 20
"""Pages that are ranked for a question."""
CHUNKS_A_PAGE = 4
"""Chunks that are asked for in order to have a page; more come where a long page holds many hits."""
CONSIDERED = 10
"""Best chunks by which it is judged how sure an answer would be."""


class Answerer(Protocol):
    """What is evaluated: answering.pipeline.Pipeline or a flow with the same methods."""

    def rewrite(self, question: Question) -> Query: ...

    def search(self, question: Question, limit: int) -> list[ScoredChunk]: ...

    def answer(self, question: Question) -> Iterator[AnswerEvent]: ...


@dataclass(frozen=True, slots=True)
class AskedVariant:
    """How one way of answering is asked."""

    answerer: Answerer
    page_text: Callable[[str], str]
    """A page's text by its address, as for `judge`."""
    confidence: Callable[[Query, Sequence[ScoredChunk]], float] | None = None
    """How sure it is that what was found answers, in [0, 1]."""
    leave_out: Callable[[Sequence[str]], None] = lambda pages: None
    """Told before each question which pages are taken not to be indexed for it."""
    writes: bool = True
    """False ranks pages and writes no answers."""


class Evaluation:
    """One way of answering, over all questions of a file."""

    def __init__(self, site_id: str, language: str, asked: AskedVariant) -> None:
        """`language` is taken for that of a question that does not tell."""
        self._site_id = site_id
        self._language = language or "en"
        self._asked = asked
        self._answerer = asked.answerer

    def ask(self, case: Case) -> EvaluatedRow:
        """Raises what the pipeline raises: StorageError, ModelError of no replacement."""
        self._asked.leave_out(case.left_out)
        question = self._question(case)
        started = perf_counter()
        hits = self._answerer.search(question, PAGES * CHUNKS_A_PAGE)
        spent = round(1000 * (perf_counter() - started), 2)
        ranked = pages_of(hits)
        answer = self._answer(question)
        verdicts = judge(case, ranked, answer, self._asked.page_text)
        if self._asked.confidence:
            sure = self._asked.confidence(self._answerer.rewrite(question), hits[:CONSIDERED])
            verdicts["confidence"] = round(sure, 4)
        return row_of(case, ranked, hits, answer, verdicts, spent)

    def _answer(self, question: Question) -> Answer | None:
        if not self._asked.writes:
            return None
        return next(event for event in self._answerer.answer(question) if isinstance(event, Answer))

    def _question(self, case: Case) -> Question:
        """As Chat makes it: each turn of the history with the query that it was searched with then."""
        turns: list[Turn] = []
        fallback = self._language
        for asked, answered in case.history:
            fallback = question_language(asked, fallback)
            query = self._answerer.rewrite(Question(asked, self._site_id, tuple(turns), fallback)).text
            turns.append(Turn(asked, answered, query, fallback))
        language = question_language(case.question, fallback)
        return Question(case.question, self._site_id, tuple(turns), language)


def pages_of(hits: Sequence[ScoredChunk]) -> tuple[str, ...]:
    """Addresses of the pages of ranked chunks, each once, best first."""
    return tuple(dict.fromkeys(hit.chunk.url for hit in hits))[:PAGES]
