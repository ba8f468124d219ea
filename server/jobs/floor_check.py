"""Asks a site questions made of its own pages, with the page that answers and without it, and keeps how
answerable they looked. The relevance floor is chosen from these values, see server.answering.floors."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TypeVar

from server.answering.engine import AnswerSources, Engine, without_answer_cache
from server.answering.floors import CHECK, FloorCheck
from server.answering.writing.suggestions import ENOUGH_TEXT, heading_of, is_question
from server.domain.chunk import Chunk
from server.domain.question import Question
from server.domain.sentences import split_sentences
from server.domain.site import Site
from server.evaluation.candidates import tells_enough
from server.indexes.tokens import tokens
from server.jobs.site_profile import SAMPLE
from server.retrieval.rarity import Rarity, chunk_words, coverage
from server.storage.content.reader import ContentReader, Holdout, PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

T = TypeVar("T")
PHRASES, HEADINGS = 44, 16
"""Maximum number of questions of each kind, spread over the site. Each is asked twice."""
SHORTEST_SENTENCE = 40
"""Characters."""
WORDS = 4
"""Rarest words of a sentence that make a question."""
CONSIDERED = 10
"""Sections by which it is judged how answerable a question is."""
ELSEWHERE = 0.7
"""A question is not used as an unanswerable one if a section of another page has this share of the weight of
its words: that page may answer it too."""


@dataclass(frozen=True, slots=True)
class SiteQuestion:
    """A question made of a section."""

    text: str
    section: Chunk
    asks_fact: bool = True
    """False for the name of a subject, of which other pages may speak too."""


def check_floor(engine: Engine, database: Database, site_id: str) -> None:
    """Store the answerability of the site's own questions, unless the live index was asked already. No chat
    model is used. Raises UnknownSite, ModelError, StorageError, IndexFailure."""
    sites = SiteStore(database)
    site = sites.get(site_id)
    content = ContentReader(database, site_id, holdout=Holdout())
    parts = replace(engine.parts(site_id), content=content)
    fingerprint = parts.embedder.fingerprint
    if FloorCheck.from_json(site.options.get(CHECK), fingerprint).generation == site.generation:
        return
    sources = AnswerSources(engine.sources.cache)
    pipeline = engine.open_pipeline(without_answer_cache(site), parts, model=None, sources=sources)
    grader, rarity = engine.grader(site, parts), Rarity(parts.words)
    pages = content.pages(limit=SAMPLE)
    answerable, unanswerable = [], []
    for one in site_questions(site, pages, content, rarity):
        language = one.section.language or site.language or "en"
        question = Question(one.text, site_id, (), language)
        query = pipeline.rewrite(question)
        answerable.append(grader.answerability(query, pipeline.search(question, CONSIDERED)))
        if one.asks_fact:
            content.holdout.hides = _variants(one.section.url, pages).__contains__
            others = pipeline.search(question, CONSIDERED)
            content.holdout.hides = lambda url: False
            weights = rarity.weights(tokens(one.text, language))
            if all(coverage(weights, chunk_words(hit.chunk)) < ELSEWHERE for hit in others):
                unanswerable.append(grader.answerability(query, others))
    check = FloorCheck(
        _sorted(answerable), _sorted(unanswerable), f"{datetime.now(UTC):%Y-%m-%d}", site.generation
    )
    kept = {CHECK: check.to_json(fingerprint)}
    sites.change(site_id, lambda now: replace(now, options={**now.options, **kept}))


def site_questions(
    site: Site, pages: Sequence[PageRecord], content: ContentReader, rarity: Rarity
) -> Iterator[SiteQuestion]:
    """Yield key phrases of the first sentences of sections, and headings that say what they are about."""
    own = [page for page in pages if page.language == site.language] or list(pages)
    chosen = spread(own, PHRASES)
    each = -(-PHRASES // max(1, len(chosen)))
    sections: list[Chunk] = []
    for page in chosen:
        long = [one for one in content.page(page.url) if len(one.text) >= ENOUGH_TEXT]
        sections += spread(long, each)
    phrases = (SiteQuestion(_phrase(one, rarity), one) for one in spread(sections, PHRASES))
    headings = (
        SiteQuestion(heading, one, is_question(heading, one.language))
        for one in spread(sections, HEADINGS)
        if (heading := heading_of(one))
    )
    seen: set[str] = set()
    for question in chain(phrases, headings):
        if question.text not in seen and tells_enough(question.text, question.section.language):
            seen.add(question.text)
            yield question


def spread(items: Sequence[T], count: int) -> list[T]:
    """Return at most `count` of the items, evenly spaced."""
    count = min(count, len(items))
    return [items[place * len(items) // count] for place in range(count)]


def _phrase(section: Chunk, rarity: Rarity) -> str:
    """The rarest words of the section's first sentence, in their order; "" when it has no sentence."""
    sentences = split_sentences(section.text)
    first = next((one for one in sentences if len(one) >= SHORTEST_SENTENCE), "")
    found = {word: tokens(word, section.language) for word in re.findall(r"[\w'’-]+", first)}
    weights = rarity.weights([token for word in found.values() for token in word])
    told = [word for word in found if found[word]]
    rarest = sorted(told, key=lambda word: -max(weights[token] for token in found[word]))[:WORDS]
    return " ".join(word for word in told if word in rarest)


def _variants(url: str, pages: Sequence[PageRecord]) -> frozenset[str]:
    """The page and its variants in other languages."""
    group = next((page.variant_group for page in pages if page.url == url), "")
    return frozenset(page.url for page in pages if group and page.variant_group == group) | {url}


def _sorted(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(sorted(round(value, 3) for value in values))
