"""Asks a site every question of a file, as a visitor would, and judges what comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from server.answering.language import question_language
from server.domain.answer import Answer, AnswerEvent
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question, Turn
from server.evaluation.judging import Verdicts, judge
from server.evaluation.metrics import Metrics, mean_of
from server.evaluation.questions import Case

PAGES = 20
"""Pages that are ranked for a question."""
CHUNKS_A_PAGE = 4
"""Chunks that are asked for in order to have a page; more come where a long page holds many hits."""


class Answerer(Protocol):
    """What is evaluated: answering.pipeline.Pipeline or a flow with the same methods."""

    def rewrite(self, question: Question) -> Query: ...

    def search(self, question: Question, limit: int) -> list[ScoredChunk]: ...

    def answer(self, question: Question) -> Iterator[AnswerEvent]: ...


@dataclass(frozen=True, slots=True)
class Judged:
    """One question with what came of it."""

    case: Case
    ranked_urls: tuple[str, ...]
    answer: Answer
    verdicts: Verdicts

    @property
    def total_ms(self) -> float:
        """From the question to the verified answer."""
        return sum(self.answer.timings_ms.values())


class Evaluation:
    """One way of answering, over all questions of a file."""

    def __init__(
        self, site_id: str, language: str, answerer: Answerer, page_text: Callable[[str], str]
    ) -> None:
        """`language` is taken for that of a question that does not tell; `page_text` as for `judge`."""
        self._site_id = site_id
        self._language = language or "en"
        self._answerer = answerer
        self._page_text = page_text

    def ask(self, case: Case) -> Judged:
        """Raises what the pipeline raises: StorageError, ModelError of no replacement."""
        question = self._question(case)
        ranked = pages_of(self._answerer.search(question, PAGES * CHUNKS_A_PAGE))
        answer = next(event for event in self._answerer.answer(question) if isinstance(event, Answer))
        return Judged(case, ranked, answer, judge(case, ranked, answer, self._page_text))

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


def metrics_of(judged: Sequence[Judged]) -> tuple[Metrics, dict[str, Metrics]]:
    """Over all questions, and by question type."""
    by_type: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        by_type[one.case.type].append(one)
    types = {name: _metrics(of_type) for name, of_type in sorted(by_type.items())}
    return _metrics(judged), types


def _metrics(judged: Sequence[Judged]) -> Metrics:
    return mean_of([one.verdicts for one in judged], [one.total_ms for one in judged])
