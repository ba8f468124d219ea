"""Chooses a site's starter questions after a crawl: headings and titles that its own pipeline answers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from server.answering.engine import AnswerSources, Engine, without_answer_cache
from server.answering.pipeline import Pipeline
from server.answering.understanding.language import question_language
from server.answering.writing.suggestions import ENOUGH_TEXT, is_question
from server.domain.answer import Outcome
from server.domain.look import CHOSEN
from server.domain.question import Question
from server.domain.sentences import plain_heading
from server.domain.site import Site
from server.jobs.site_profile import titled_pages
from server.languages.loader import alternatives, compiled
from server.storage.content.reader import ContentReader
from server.storage.sites.sites import SiteStore

STARTERS = 4
ASKED = 40
"""Pages whose headings are looked at for questions."""
TRIED = 16
"""Questions that are asked at most."""
SHORTEST, LONGEST = 5, 80
"""Characters of a question."""
_INVITES = compiled(alternatives(lambda one: one.questions.invites))
"""The site asks this its visitors, who would never ask it."""


@dataclass(frozen=True, slots=True)
class Starter:
    """A question that may be offered."""

    text: str
    url: str
    """Stored address of the page that answers it."""
    section: str
    """Text that an answer must quote."""


def choose_starters(engine: Engine, sites: SiteStore, site_id: str) -> None:
    """Store the starters that are answered from their own section, unless an operator wrote some. No chat
    model is used: what the site's own sentences answer, a model answers too. Raises UnknownSite, and what
    `Pipeline.answer` raises."""
    site = sites.get(site_id)
    if site.options.get(CHOSEN):
        return
    parts = engine.parts(site_id)
    sources = AnswerSources(engine.sources.cache)
    pipeline = engine.open_pipeline(without_answer_cache(site), parts, model=None, sources=sources)
    tried = islice(candidates(site, parts.content), TRIED)
    kept = list(islice((one.text for one in tried if _is_answered(one, pipeline, site)), STARTERS))
    sites.change(site_id, lambda now: _with_starters(now, kept))


def candidates(site: Site, content: ContentReader) -> Iterator[Starter]:
    """Yield the first heading of each page that asks something, main pages first, then titles of pages."""
    pages = titled_pages(site, content, site.language)
    seen: set[str] = set()
    for one in chain(_questions(pages, content), _titles(site, pages, content)):
        if one.text not in seen:
            seen.add(one.text)
            yield one


def _questions(pages: list[tuple[str, str]], content: ContentReader) -> Iterator[Starter]:
    for _, url in pages[:ASKED]:
        for chunk in content.page(url):
            text = plain_heading(chunk.heading_path[-1]) if chunk.heading_path else ""
            sayable = SHORTEST <= len(text) <= LONGEST and is_question(text, chunk.language)
            sayable = sayable and not _INVITES.match(text)
            if sayable and len(chunk.text.replace(text, "")) >= ENOUGH_TEXT:
                yield Starter(text, url, chunk.text)
                break


def _titles(site: Site, pages: list[tuple[str, str]], content: ContentReader) -> Iterator[Starter]:
    for title, url in pages:
        if url not in site.start_urls and len(title) <= LONGEST:
            yield Starter(title, url, "\n\n".join(chunk.text for chunk in content.page(url)))


def _is_answered(one: Starter, pipeline: Pipeline, site: Site) -> bool:
    language = question_language(one.text, site.language or "en")
    said = pipeline.whole(Question(one.text, site.id, (), language))
    if said.outcome is not Outcome.ANSWERED:
        return False
    section = " ".join(one.section.split())
    return any(citation.quote in section and citation.quote != one.text for citation in said.citations)


def _with_starters(now: Site, starters: list[str]) -> Site:
    if now.options.get(CHOSEN):  # an operator wrote some meanwhile
        return now
    return replace(now, options={**now.options, "suggestions": starters})
