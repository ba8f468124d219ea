"""Asks a site's own questions anew, as a visitor would be answered now; nothing of it is stored as asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from server.answering.pipeline import Pipeline
from server.domain.answer import Answer
from server.domain.curated import CuratedAnswer
from server.domain.question import Question
from server.domain.site import Site
from server.models.metered import TokenBudget
from server.runtime.answering import open_pipeline
from server.runtime.shortcuts import Given
from server.runtime.sites import daily_limit

if TYPE_CHECKING:
    from server.runtime.container import Services


class NoCurated:
    """Where the pages alone are to answer."""

    def all(self, site_id: str) -> Sequence[CuratedAnswer]:
        """None at all."""
        return ()


def fresh_pipeline(services: Services, site: Site, *, curated: bool = True) -> Pipeline:
    """What answers the site's visitors, without the cache of answers; without the operator's own answers
    where `curated` is false."""
    parts = services.parts(site.id, services.query_embedder)
    parts = replace(parts, relevance_model=services.relevance_model)
    given = Given(services.curated if curated else NoCurated(), services.cache)
    own: Mapping[str, object] = tuning if isinstance(tuning := site.options.get("tuning"), dict) else {}
    uncached = replace(site, options={**site.options, "tuning": {**own, "answer_cache": False}})
    return open_pipeline(uncached, parts, services.chat_model, services.incidents, services.settings, given)


def whole_answer(pipeline: Pipeline, question: Question) -> Answer:
    """The finished answer. Raises what `Pipeline.answer` raises."""
    *_, last = pipeline.answer(question)
    if not isinstance(last, Answer):
        raise TypeError("a pipeline ends in an Answer")
    return last


def is_spent(services: Services, site: Site) -> bool:
    """Whether today's budget of models is spent: what is left over is for tomorrow, not for quotations that
    visitors would not get on another day."""
    settings = services.settings
    if services.chat_model is None:
        return False
    if daily_limit(site, settings).reached(services.usage.today(site.id)):
        return True
    budget = TokenBudget(services.cache, settings.model_daily_tokens)
    return bool(settings.model_daily_tokens) and budget.spent() >= settings.model_daily_tokens
