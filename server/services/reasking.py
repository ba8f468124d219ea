"""Asks the gaps of one site anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from server.answering.pipeline import Pipeline
from server.domain.addresses import stored
from server.domain.answer import Answer
from server.domain.chunk import Chunk
from server.domain.gap import OPEN, Gap, NearPage, Solved, Why
from server.domain.protocols import ModelError
from server.domain.question import Question
from server.domain.site import Site
from server.domain.spending import Spending, charged
from server.gaps.asking import ask_again, wordings
from server.gaps.lacking import PAGES, lacking, near_pages
from server.indexes.words import SqlWordIndex
from server.retrieval.rarity import Rarity, chunk_tokens
from server.services.asking_anew import fresh_pipeline, is_spent, whole_answer
from server.services.sites import daily_limit
from server.storage.questions import QuestionLog

if TYPE_CHECKING:
    from server.services.container import Services

log = logging.getLogger(__name__)

FOUND = 10
"""Chunks among which the nearest pages are looked for."""
READ = 60
"""Chunks of a page that are read for its words."""
DISLIKED = 20
"""Answers of a gap that did not help whose quotes are compared."""
MET = 500
"""Open gaps that are held against one new answer of the operator."""


@dataclass(frozen=True, slots=True)
class Result:
    """Of asking several gaps."""

    asked: int
    closed: int
    spent: bool


class Reasking:
    """Made anew for each use: what answers is that of the site as it is now."""

    def __init__(self, services: Services, site: Site) -> None:
        self._services = services
        self._site = site

    def all(self, gaps: Sequence[Gap], crawl: int, is_ending: Callable[[], bool]) -> Result:
        """Until the budget of models is spent, or `is_ending` says so. A gap whose model fails stays open."""
        asked = closed = 0
        for gap in gaps:
            if is_ending():
                break
            if is_spent(self._services, self._site):
                return Result(asked, closed, True)
            closed += bool(self.one(gap, crawl))
            asked += 1
        return Result(asked, closed, False)

    def one(self, gap: Gap, crawl: int = 0, by: str = "") -> Solved | None:
        """What answers the gap now: then it is closed. Otherwise what is missing is looked up again."""
        texts = wordings(gap, (one.question for one in self._services.gaps.questions(gap.id, FOUND)))
        support = self._services.settings.gap_support
        outcome, solved = ask_again(gap, texts, self._ask, self._disliked(gap), support, crawl)
        self._services.gaps.was_asked(gap.id, outcome.value, solved, by)
        if solved is None:
            self.describe(gap)
        return solved

    def met_by(self, curated_id: int) -> list[Gap]:
        """Open gaps that this answer of the operator meets: closed. No page is searched for that."""
        given = self._services.own_answers.given(self._site)
        closed = []
        for gap in self._services.gaps.all(site_id=self._site.id, statuses=OPEN, limit=MET):
            match = given.match(Question(gap.question, gap.site_id, (), gap.language))
            if match and match[0].id == curated_id:
                self._services.gaps.was_asked(gap.id, "curated", Solved(curated=curated_id))
                closed.append(gap)
        return closed

    def describe(self, gap: Gap) -> None:
        """Stores the nearest pages and what is missing."""
        question = Question(gap.question, gap.site_id, (), gap.language)
        try:
            with charged(Spending(self._site.id, daily_limit(self._site, self._services.settings))):
                found = self._pipeline.search(question, FOUND)
        except ModelError as error:
            log.warning("the nearest pages of a gap of %s are not known: %s", self._site.id, error)
            found = []
        near = near_pages(found)
        missing = lacking(gap.question, gap.language, self._rarity.unused, self._words_of(near))
        self._services.gaps.describe(gap.id, near, missing)

    def _ask(self, question: Question) -> Answer:
        return whole_answer(self._pipeline, question)

    def _disliked(self, gap: Gap) -> frozenset[str]:
        """The quotes of answers that did not help."""
        if Why.THUMBS_DOWN not in gap.why:
            return frozenset()
        log_of_questions = QuestionLog(self._services.database)
        asked = self._services.gaps.questions(gap.id, DISLIKED)
        found = (log_of_questions.find(one.message_id) for one in asked if one.why is Why.THUMBS_DOWN)
        return frozenset(
            citation.quote for message in found if message for citation in message.answer.citations
        )

    def _words_of(self, pages: Sequence[NearPage]) -> frozenset[str]:
        content, base = self._services.content(self._site.id), self._services.settings.base_url
        chunks: list[Chunk] = []
        for page in pages[:PAGES]:
            chunks += content.page(stored(page.url, base))[:READ]
        return frozenset(token for chunk in chunks for part in chunk_tokens(chunk) for token in part)

    @cached_property
    def _pipeline(self) -> Pipeline:
        return fresh_pipeline(self._services, self._site)

    @cached_property
    def _rarity(self) -> Rarity:
        return Rarity(SqlWordIndex(self._services.database, self._site.id))
