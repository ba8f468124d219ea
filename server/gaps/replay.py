"""Replays questions to a site as a visitor would be answered now; nothing of it is stored as asked."""

from __future__ import annotations

from server.answering.engine import AnswerSources, Engine, NoCurated, without_answer_cache
from server.answering.pipeline import Pipeline
from server.domain.answer import Answer
from server.domain.question import Question
from server.domain.site import Site


def fresh_pipeline(engine: Engine, site: Site, *, curated: bool = True) -> Pipeline:
    """Open what answers the site's visitors, without the cache of answers; without the operator's own answers
    where `curated` is false."""
    sources = engine.sources
    if not curated:
        sources = AnswerSources(NoCurated(), sources.cache)
    parts = engine.parts(site.id)
    return engine.open_pipeline(without_answer_cache(site), parts, model=engine.chat_model, sources=sources)


def whole_answer(pipeline: Pipeline, question: Question) -> Answer:
    """The finished answer. Raises what `Pipeline.answer` raises."""
    *_, last = pipeline.answer(question)
    if not isinstance(last, Answer):
        raise TypeError("a pipeline ends in an Answer")
    return last
