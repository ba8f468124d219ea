"""The operator's own answers and the site's pages: which answer is given, and where both differ."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from server.answering.engine import AnswerSources, Engine, without_answer_cache
from server.answering.pipeline import Pipeline
from server.answering.shortcuts.conflicts import differences
from server.answering.shortcuts.curated import CuratedAnswers, Nearness
from server.answering.understanding.language import question_language
from server.domain.answer import Outcome
from server.domain.curated import ContentCheck, CuratedAnswer
from server.domain.protocols import ModelError
from server.domain.question import Question
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.storage.conversations.curated import CuratedStore


def fresh_pipeline(engine: Engine, site: Site, *, curated: bool = True) -> Pipeline:
    """Open what answers the site's visitors, without the cache of answers; without the operator's own answers
    where `curated` is false."""
    sources = engine.sources
    if not curated:
        sources = AnswerSources(sources.cache)
    parts = engine.parts(site.id)
    return engine.open_pipeline(without_answer_cache(site), parts, model=engine.chat_model, sources=sources)


log = logging.getLogger(__name__)

SHOWN = 500
"""Characters of the site's own words that are kept."""


class OwnAnswers:
    """The operators' own answers on all sites."""

    def __init__(self, engine: Engine, curated: CuratedStore) -> None:
        self._engine = engine
        self._curated = curated

    def nearest(self, site: Site, text: str, limit: int = 5) -> list[Nearness]:
        """Which answers come near a question, and why they are or are not given."""
        return self.given(site).nearest(self._question(site, text), limit)

    def check(self, site: Site, answer: CuratedAnswer) -> ContentCheck:
        """Asks the pages the same, and keeps what they say and where it differs."""
        pipeline = None if self._engine.is_spent(site) else self._without_own(site)
        return self._checked(site, answer, pipeline)

    def check_all(self, site: Site, limit: int, go_on: Callable[[], bool]) -> None:
        """Checks those that were given most, until `go_on` says no."""
        pipeline = None
        for answer in sorted(self._curated.all(site.id), key=lambda one: -one.hits)[:limit]:
            if not answer.enabled:
                continue
            if not go_on() or self._engine.is_spent(site):
                break
            pipeline = pipeline or self._without_own(site)
            self._checked(site, answer, pipeline)

    def _checked(self, site: Site, answer: CuratedAnswer, pipeline: Pipeline | None) -> ContentCheck:
        check = ContentCheck(datetime.now(UTC), "")
        if pipeline:
            try:
                check = self._compared(site, answer, pipeline)
            except (IndexFailure, ModelError) as error:
                log.warning("the answer %s of %s could not be compared: %s", answer.id, site.id, error)
        self._curated.note_check(site.id, answer.id, check)
        return check

    def _compared(self, site: Site, answer: CuratedAnswer, pipeline: Pipeline) -> ContentCheck:
        question = self._question(site, answer.questions[0], answer.language)
        said = pipeline.whole(question)
        moment = datetime.now(UTC)
        if said.outcome is not Outcome.ANSWERED or not said.citations:
            return ContentCheck(moment, said.outcome.value)
        quotes = list(dict.fromkeys(citation.quote for citation in said.citations))
        differing = differences(question.text, answer.text, quotes, question.language)
        return ContentCheck(
            moment, said.outcome.value, " … ".join(quotes)[:SHOWN], said.citations[0].url, differing
        )

    def _without_own(self, site: Site) -> Pipeline | None:
        try:
            return fresh_pipeline(self._engine, site, curated=False)
        except IndexFailure as error:
            log.warning("the own answers of %s could not be compared: %s", site.id, error)
            return None

    def given(self, site: Site) -> CuratedAnswers:
        """What gives the site's own answers, as they are now."""
        return self._engine.open_curated(site)

    def _question(self, site: Site, text: str, language: str = "") -> Question:
        return Question(text, site.id, (), language or question_language(text, site.language or "en"))
