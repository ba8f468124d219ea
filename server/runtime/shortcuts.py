"""What answers before anything is retrieved: the operator's own answers, and those that were given before."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from server.answering.engine import AnswerSources, CuratedSource, SiteParts, daily_limit, tuning_of
from server.answering.shortcuts.answer_cache import AnswerCache
from server.answering.shortcuts.curated import CuratedAnswers
from server.answering.shortcuts.same_question import Likeness
from server.answering.steps import Steps
from server.domain.addresses import stored
from server.domain.protocols import Cache, ChatModel, Shortcut
from server.domain.site import Site
from server.retrieval.rarity import Rarity
from server.settings import Settings


def with_known_answers(
    steps: Steps,
    site: Site,
    parts: SiteParts,
    model: ChatModel | None,
    settings: Settings,
    sources: AnswerSources,
) -> Steps:
    """The steps with the operator's own answers before all other shortcuts, remembered ones after them."""
    curated = open_curated(site, parts, sources.curated, settings)
    known: list[Shortcut] = [curated, *steps.shortcuts]
    steps = replace(steps, shortcuts=known, daily_limit=daily_limit(site, settings))
    remembered = open_answer_cache(site, parts, sources.cache, model, settings)
    if remembered is None:
        return steps
    return replace(
        steps, shortcuts=[*known, remembered], remember=remembered.remember, forget=remembered.forget
    )


def open_curated(site: Site, parts: SiteParts, store: CuratedSource, settings: Settings) -> CuratedAnswers:
    """The curated answers of a site."""

    def title(url: str) -> str:
        page = parts.content.page(stored(url, settings.serving.base_url))
        return page[0].title if page and page[0].title else url

    likeness = Likeness(Rarity(parts.words), parts.embedder)
    made = CuratedAnswers(partial(store.all, site.id), likeness, settings.retrieval.curated_threshold, title)
    made.prepare()
    return made


def open_answer_cache(
    site: Site, parts: SiteParts, cache: Cache, model: ChatModel | None, settings: Settings
) -> AnswerCache | None:
    """None when the site's tuning has it off. Answers are forgotten when anything that they depend on
    changes: index, site, options, models, or Docent itself."""
    tuning = tuning_of(site, settings)
    if not tuning.answer_cache:
        return None
    name = model.name if model else "embedded"
    limits = (
        settings.retrieval.retrieve_limit,
        settings.retrieval.relevance_floor,
        settings.retrieval.self_rag_max_count,
    )
    options = sorted(site.options.items(), key=lambda item: item[0])
    made_from = (
        site.id, site.generation, site.title, site.strategy, site.flow, tuning, options, *limits,
        settings.retrieval.self_rag_max_retries, name, parts.embedder.fingerprint,
        settings.serving.base_url, _newest_code(),
    )  # fmt: skip

    def kept_out(urls: Collection[str]) -> set[str]:
        pages = {stored(url, settings.serving.base_url) for url in urls}
        return parts.decisions.for_search(pages)[0] & pages if parts.decisions else set()

    return AnswerCache(cache, made_from, name, settings.retrieval.answer_cache_hours * 3600, kept_out)


@cache
def _newest_code() -> int:
    """When Docent itself last changed: other code may answer otherwise."""
    return max(path.stat().st_mtime_ns for path in Path(__file__).parents[1].rglob("*.py"))
