"""Builds the answering pipeline of a site, with what works on a question before and after the search."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from urllib.parse import urlsplit

from crawler.discovery.urls import canonical, other_slash, without_index
from server.answering.engine import AnswerSources, SiteParts, tuning_of
from server.answering.floors import site_floor
from server.answering.flows.graders import ModelGroundedness, VerifiedGroundedness
from server.answering.grading import EvidenceGrader
from server.answering.page_steps import FollowedPointers, LanguageVariants, ListsOfLinks, OperatorPageRules
from server.answering.past_pages import PastPages
from server.answering.pipeline import Pipeline
from server.answering.ranking import SectionRanker
from server.answering.series import TITLES, Member, NamedInSeries, members
from server.answering.shortcuts.curated import Refreshed
from server.answering.shortcuts.fact_card import FactCard
from server.answering.shortcuts.handoff import Handoff
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.news import News
from server.answering.shortcuts.overview import Overview
from server.answering.shortcuts.small_talk import SmallTalk
from server.answering.steps import RetrievalStep, Steps
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
from server.answering.understanding.steps import AnnouncedStep, SpellingStep, UnderstandingStep
from server.answering.understanding.synonyms import SynonymStep
from server.answering.understanding.translation import GlossaryStep, ModelTranslationStep, spoken_on
from server.answering.understanding.visitor_page import PagePassages, PageWordsStep, PointedPageStep
from server.answering.verifying.reviewers import ClaimReviewer, SourceReviewer
from server.answering.verifying.verifier import Verifier
from server.answering.writing.clarifying import AmbiguityClarifier, ModelClarifier
from server.answering.writing.model_writer import ModelWriter, Synthesis
from server.answering.writing.plan import ReadingPlan
from server.answering.writing.prompts import leak_check
from server.answering.writing.quoting import QuotingWriter
from server.answering.writing.reading import NeighbourReader
from server.domain.addresses import absolute, stored
from server.domain.chunk import Chunk, PageLinks, ScoredChunk
from server.domain.protocols import (
    ChatModel,
    Clarifier,
    Expander,
    Incidents,
    Retriever,
    Reviewer,
    Shortcut,
    Writer,
)  # fmt: skip
from server.domain.question import Query, Question
from server.domain.site import Site, Voice
from server.domain.visiting import PageUse
from server.guards.table import GUARDS
from server.indexes.spelling import SiteSpeller
from server.indexing.word_pairs import stored_word_pairs
from server.models.metered import estimate_tokens
from server.models.minilm_weights import common_words
from server.retrieval.question_kinds import asks_for_themes, asks_who_is_behind
from server.retrieval.rarity import Rarity
from server.runtime.sites import open_comparer, open_flow, open_strategy, with_known_answers
from server.settings import Settings
from server.settings.tuning import Tuning

QuotedPages = tuple[KeyPages, frozenset[str], Callable[[str], str]]
"""What answers that quote single pages need: key pages, the site's origins, and the text of a page."""


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
        steps.append(AnnouncedStep())
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
        card = FactCard(self._site, parts.card.all, *pages)
        return [
            SmallTalk(self._site, parts.words.document_frequencies),
            Handoff(self._site, *pages, search, card),
            Overview(self._site, *pages),
            News(self._site, *pages),
            card,
        ]

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


def _asks_about_the_site(_: Message, question: Question) -> bool:
    # After other questions, "who is it for?" is about what they were about.
    return asks_for_themes(question.text) or (not question.history and asks_who_is_behind(question.text))


def _page_opened(page: Callable[[str], list[Chunk]], base: str, url: str) -> list[Chunk]:
    """Return a page's chunks by its address in a browser, which may have another query, index file or final
    slash. `page` finds them by stored address."""
    seen = dict.fromkeys(stored(spelled, base) for spelled in _spellings(url))
    return next((chunks for chunks in map(page, seen) if chunks), [])


def _spellings(url: str) -> Iterator[str]:
    for address in (canonical(url), canonical(url.partition("?")[0])):
        if address:
            yield address
            yield from filter(None, (other_slash(address), without_index(address)))


def open_pipeline(
    site: Site,
    parts: SiteParts,
    model: ChatModel | None,
    incidents: Incidents,
    settings: Settings,
    sources: AnswerSources,
) -> Pipeline:
    """Return the pipeline for the site's questions, with `model` if there is one, else with quotations."""
    rarity = Rarity(parts.words)
    title, base = site.title or site.name, settings.serving.base_url
    tuning = tuning_of(site, settings)
    asked = QueryWork(site, tuning, model, incidents)
    evidence, comparer = open_grader(site, parts, settings, rarity), open_comparer(site, parts)
    searched = parts.retriever or open_strategy(site, parts, incidents, settings, model).retriever
    own = urlsplit(base)  # uploaded files are served there
    origins = site.allowed_origins | {f"{own.scheme}://{own.netloc}"}
    address = partial(absolute, base=base)

    def page(url: str) -> list[Chunk]:
        return parts.content.page(stored(url, base))

    def page_text(url: str) -> str:
        return parts.content.page_text(stored(url, base))

    def nearest(query: Query) -> list[ScoredChunk]:
        kept = evidence.keep(query, searched.retrieve(query, settings.retrieval.retrieve_limit))
        return [replace(hit, chunk=replace(hit.chunk, url=address(hit.chunk.url))) for hit in kept]

    @contextmanager
    def reading() -> Iterator[None]:
        with parts.words.reading(), parts.content.reading():
            yield

    writers = _writers(site, model, QuotingWriter(rarity, parts.content.links, title, page), tuning, settings)
    pages = (KeyPages(site, parts.content, address, base), origins, page_text)
    steps = Steps(
        site=site,
        origins=origins,
        guards=[GUARDS.load(name)() for name in GUARDS],
        understanding=_understanding(site, parts, asked, rarity, tuning, base),
        strategy=searched,
        retrieval_steps=[
            *asked.expansion(searched, rarity),
            # A model may order them instead, or the tuning says no.
            *([SectionRanker(rarity, comparer)] if tuning.rerank == "features" else []),
            *_page_steps(site, parts, rarity),
            comparer,
        ],
        grader=evidence,
        writers=writers,
        page_text=page_text,
        site_text=_site_text(parts, base),
        reader=NeighbourReader(page, tuning.neighbours) if tuning.neighbours else None,
        plan=ReadingPlan(page).apply,
        incidents=incidents,
        reviewers=_reviewers(origins, parts.content.links, model if tuning.grade_claims else None, incidents),
        verifier=partial(Verifier, embedder=parts.embedder, leak_check=leak_check(title)),
        retrieve_limit=settings.retrieval.retrieve_limit,
        reading=reading,
        address=address,
        shortcuts=asked.shortcuts(parts, pages, nearest),
        # Before a refusal: the overview, for questions about the site's themes and who is behind it.
        fallbacks=[Overview(site, *pages, _asks_about_the_site)],
        clarifiers=asked.clarifiers(),
        person=Handoff(site, *pages, card=FactCard(site, parts.card.all, *pages)).person,
        note=PastPages(page).note,
    )
    steps = with_known_answers(steps, site, parts, model, settings, sources)
    return Pipeline(steps, open_flow(site, parts, evidence, model, incidents, settings))


def _writers(
    site: Site, model: ChatModel | None, quoting: Writer, tuning: Tuning, settings: Settings
) -> list[Writer]:
    """Return the writers: the model first if there is one, then quotation."""
    if model is None:
        return [quoting]
    wishes = Voice.of(site.options).wishes
    synthesis = Synthesis(tuning.synthesis, settings.models.context_tokens, estimate_tokens, wishes)
    return [ModelWriter(model, site.title or site.name, synthesis), quoting]


def _page_steps(site: Site, parts: SiteParts, rarity: Rarity) -> list[RetrievalStep]:
    """Return the steps for series of pages, for pages in several languages, for sections that point to
    others or only list links, for the page that a question refers to, and for excluded and pinned pages."""
    page, content = parts.content.page, parts.content

    @cache
    def series() -> dict[str, Member]:
        titles = ((one.url, one.title, one.language) for one in content.pages(limit=TITLES))
        return members(titles, site.title or site.name)

    return [
        NamedInSeries(series),
        LanguageVariants(content.variants, page, rarity, spoken_on(content)),
        FollowedPointers(content.links, page, rarity),
        ListsOfLinks(content.links, rarity),
        PagePassages(page, rarity),
        OperatorPageRules(parts.decisions.for_search, page, rarity),
    ]


def _site_text(parts: SiteParts, base: str) -> Callable[[str], str | None]:
    """Return a function for the website's own text of a page that an operator corrected, by the address that
    visitors open. It returns None for other pages."""
    decisions = parts.decisions
    edited = Refreshed(decisions.site_hashes)

    def text(url: str) -> str | None:
        address = stored(url, base)
        if not address.startswith(("http://", "https://")) or address not in edited():
            return None  # Docent serves uploaded pages itself, in their corrected form
        decision = decisions.get(address)
        if decision is None or not decision.edited or decision.site_page is None:
            return None
        return "\n\n".join(str(block["text"]) for block in decision.site_page["blocks"])

    return text


def _understanding(
    site: Site, parts: SiteParts, asked: QueryWork, rarity: Rarity, tuning: Tuning, base: str
) -> list[UnderstandingStep]:
    """Return the steps from a question to its query, in order."""
    steps = asked.standalone(rarity, parts)
    if tuning.typo_tolerance:
        steps.insert(0, SpellingStep(SiteSpeller(parts.words, common_words())))
    steps.append(SynonymStep(rarity))
    if PageUse.of(site.options).page:
        pointed = PointedPageStep(partial(_page_opened, parts.content.page, base), site.title or site.name)
        steps = [pointed, *steps, PageWordsStep()]
    return steps


def open_grader(site: Site, parts: SiteParts, settings: Settings, rarity: Rarity) -> EvidenceGrader:
    """Return the grader that decides whether retrieved chunks answer."""
    return EvidenceGrader(rarity, site_floor(site, settings, parts.embedder.fingerprint))


def _reviewers(
    origins: frozenset[str], links: PageLinks, grading: ChatModel | None, incidents: Incidents
) -> list[Reviewer]:
    sources = SourceReviewer(origins, links)
    if grading is None:
        return [sources]
    return [ClaimReviewer(ModelGroundedness(grading, VerifiedGroundedness(), incidents)), sources]
