"""Builds the parts that process a site's questions before and after the search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from server.answering.engine import SiteParts
from server.answering.shortcuts.fact_card import FactCard
from server.answering.shortcuts.handoff import Handoff
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.overview import Overview
from server.answering.shortcuts.small_talk import SmallTalk
from server.answering.steps import RetrievalStep
from server.answering.understanding.expansion import (
    Expansion,
    ExpansionStep,
    Feedback,
    KeywordVariants,
    ModelExpander,
    StepBack,
    SubQuestions,
    Task,
)
from server.answering.understanding.follow_ups import FollowUpStep, ModelFollowUpStep
from server.answering.understanding.routing import Message
from server.answering.understanding.steps import UnderstandingStep
from server.answering.understanding.translation import GlossaryStep, ModelTranslationStep, spoken_on
from server.answering.writing.clarifying import AmbiguityClarifier, ModelClarifier
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ChatModel, Clarifier, Expander, Incidents, Retriever, Shortcut
from server.domain.question import Query, Question
from server.domain.site import Site
from server.indexing.word_pairs import stored_word_pairs
from server.retrieval.question_kinds import asks_for_themes
from server.retrieval.rarity import Rarity
from server.settings.tuning import Tuning


@dataclass(frozen=True, slots=True)
class QuotedPages:
    """What answers that quote single pages need."""

    key_pages: KeyPages
    origins: frozenset[str]
    text: Callable[[str], str]
    """Returns the text of a page."""


class QueryWork:
    """Builds the parts for one site by its tuning. They use `model` if there is one."""

    def __init__(self, site: Site, tuning: Tuning, model: ChatModel | None, incidents: Incidents) -> None:
        self._site = site
        self._tuning = tuning
        self._model = model
        self._incidents = incidents

    def standalone(self, rarity: Rarity, parts: SiteParts) -> list[UnderstandingStep]:
        """Return the steps that reword a question without its history, in a language of the site."""
        steps: list[UnderstandingStep] = [
            FollowUpStep(self._site.title or self._site.name, self._tuning.title)
        ]
        if self._model:
            steps.append(ModelFollowUpStep(self._model, self._incidents))
        if self._tuning.glossary:
            glossary = GlossaryStep(
                rarity,
                self._site.language or "en",
                spoken_on(parts.content),
                parts.words.vocabulary,
                parts.embedder.languages,
                cache(partial(stored_word_pairs, parts.deriving.indexes)),
            )
            model = self._model
            steps.append(ModelTranslationStep(model, glossary, self._incidents) if model else glossary)
        return steps

    def shortcuts(
        self, parts: SiteParts, pages: QuotedPages, search: Callable[[Query], Sequence[ScoredChunk]]
    ) -> list[Shortcut]:
        """Return the shortcuts for messages that are not questions for the site's pages."""
        if not self._tuning.routing:
            return []
        found: list[Shortcut] = [
            SmallTalk(self._site, parts.words.document_frequencies),
            Handoff(self._site, pages.key_pages, pages.origins, pages.text, search),
            Overview(self._site, pages.key_pages, pages.origins, pages.text),
        ]
        if parts.card:
            found.append(FactCard(self._site, parts.card.all, pages.key_pages, pages.origins, pages.text))
        return found

    def person(self, pages: QuotedPages) -> Callable[[str], tuple[str, tuple[str, str] | None]]:
        """Return the function for the line on how to reach a person."""
        return Handoff(self._site, pages.key_pages, pages.origins, pages.text).person

    def fallbacks(self, pages: QuotedPages) -> list[Shortcut]:
        """Return the fallback before a refusal: the overview, for questions about the site's themes."""
        return [Overview(self._site, pages.key_pages, pages.origins, pages.text, _asks_for_themes)]

    def clarifiers(self) -> list[Clarifier]:
        """Return the clarifiers."""
        if not self._tuning.clarify:
            return []
        plain = AmbiguityClarifier(self._site)
        return [ModelClarifier(self._model, plain, self._incidents) if self._model else plain]

    def expansion(self, retriever: Retriever, rarity: Rarity) -> list[RetrievalStep]:
        """Return the query expansion step; [] if no option needs it."""
        on = self._tuning
        wanted: list[tuple[bool, Task, Expander, float]] = [
            (on.sub_questions, Task.SUB_QUESTIONS, SubQuestions(), 0.0),
            (on.multi_query, Task.MULTI_QUERY, KeywordVariants(rarity), 0.3),
            (on.step_back, Task.STEP_BACK, StepBack(), 0.3),
            (on.hyde, Task.HYDE, Feedback(rarity), 0.2),
        ]
        made = [
            Expansion(self._expander(task, plain), share) for is_on, task, plain, share in wanted if is_on
        ]
        return [ExpansionStep(retriever.retrieve, made)] if made else []

    def _expander(self, task: Task, plain: Expander) -> Expander:
        if self._model is None:
            return plain
        return ModelExpander(self._model, task, plain, self._incidents, self._site.id)


def _asks_for_themes(_: Message, question: Question) -> bool:
    return asks_for_themes(question.text)
