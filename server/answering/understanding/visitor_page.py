"""Uses the page that a question was asked on, but only if the question refers to it.

"How much is this?" cannot be understood without the page. A question that can be understood alone must get
the same answer on every page, so the rules are narrower than in `understanding/reference.py`: an "it" that
may mean nothing ("is it possible to ...") does not count.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from urllib.parse import urlsplit

from server.answering.trace import Trace
from server.answering.understanding.fact_questions import bare_search
from server.answering.understanding.reference import content_size
from server.answering.understanding.routing import Kind, read
from server.answering.understanding.steps import PageWords, Understanding
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question, VisitorPage
from server.domain.sentences import plain_title
from server.domain.site import Site
from server.guards.commands import command_in
from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, coverage


class Pointing(StrEnum):
    """Targets that a question may refer to, apart from the conversation."""

    NOT = "not"
    AT_PAGE = "page"
    """The page, a part of it, or the text selected on it."""
    AT_THING = "thing"
    """Something unnamed: the selected text, the subject of the conversation, or the subject of the page."""


_START = ("", "/", "/index.html")
LONGEST = 300
"""Texts with more characters count as complete in themselves."""
WITH_NOUN, ALONE, IT = 5, 4, 2
"""Maximum number of content words in a question with "this lamp", with "this", and with "it"."""

_AT_PAGE = compiled(alternatives(lambda one: one.this_page.parts))
_EXPLETIVE = compiled(alternatives(lambda one: one.this_page.means_nothing))
_SHORT = compiled(rf"^\W*({alternatives(lambda one: one.this_page.short)})[\s?？!.。؟]*$")
_WISH = compiled(alternatives(lambda one: one.this_page.wish))
"""Words for what the visitor wants, such as "explain". They are on no page and would count as missing."""
_THINGS = (
    (WITH_NOUN, compiled(alternatives(lambda one: one.this_page.with_noun))),
    (ALONE, compiled(alternatives(lambda one: one.this_page.alone))),
    (IT, compiled(alternatives(lambda one: one.this_page.it))),
)


@lru_cache(maxsize=1000)
def pointing(text: str, language: str = "") -> Pointing:
    """Return what `text` refers to; NOT for a question that can be understood alone, or for no question."""
    if len(text) > LONGEST:
        return Pointing.NOT
    if _AT_PAGE.search(text):
        return Pointing.AT_PAGE
    message = read(text, language)
    if message.kind not in (Kind.QUESTION, Kind.OVERVIEW):
        return Pointing.NOT
    if _SHORT.match(message.text):
        return Pointing.AT_THING
    size = content_size(message.text, language)
    for longest, pattern in _THINGS:
        if size <= longest and pattern.search(message.text) and not _EXPLETIVE.search(message.text):
            return Pointing.AT_THING
    return Pointing.NOT


def without_pointing(text: str) -> str:
    """Return what a question asks about the page: "returns" for "what does this page say about returns?"."""
    rest = _SHORT.sub(" ", _AT_PAGE.sub(" ", text))
    left = _WISH.sub(" ", rest)
    words = re.findall(r"\w{2,}", left)
    return " ".join(left.split()) if words else ""


MARKED, TITLE = 14, 8
"""Maximum number of words of the selection, and of the title, that are searched with the question."""

PAGE_NAMED, PAGE_MEANT = 0.5, 0.15
"""Bonus for the page's own passages when the question is about the page, or about something on it."""
READ_ALREADY = -0.3
"""Bonus when the question is what selected words mean: another page explains them better."""


def keep_relevant_page(question: Question, site: Site, trace: Trace) -> Question:
    """Return the question with its page only if it refers to it. Notes the page in the trace."""
    if question.page is None:
        return question
    page = _without_commands(question.page)
    used = _points_at(question, page, site)
    seen = {"url": page.shown_url, "title": page.title, "used": used}
    trace.note("page", seen | ({"selection": page.selection} if used and page.selection else {}))
    return replace(question, page=page if used else None)


class PointedPageStep:
    """Find the page that a question refers to, and remove the words that refer to it."""

    name = "visitor's page"

    def __init__(self, chunks: Callable[[str], Sequence[Chunk]], site_title: str) -> None:
        """`chunks` returns the chunks of a page by its address in the browser; [] if it is not indexed."""
        self._chunks = chunks
        self._site_title = site_title

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state for the page. The page outranks the conversation, so the history is dropped."""
        question = so_far.question
        page = question.page
        if page is None:
            return so_far
        chunks = self._chunks(page.url)
        title = self._own_title(chunks[0].title if chunks else page.title)
        marked = " ".join(word[: 3 * MARKED] for word in page.selection.split()[:MARKED])
        asked = without_pointing(question.text)
        url, language = (chunks[0].url, chunks[0].language) if chunks else ("", "")
        named = pointing(question.text, question.language) is Pointing.AT_PAGE
        words = PageWords(url, language, title, asked, marked, named)
        if not asked and not words.added:
            return so_far
        alone = replace(question, text=asked or words.added, history=())
        return Understanding(alone, replace(so_far.query, text=alone.text), words)

    def _own_title(self, title: str) -> str:
        """Return the first words of a page's title; "" for the site's title."""
        own = plain_title(title)
        return "" if own.casefold() == self._site_title.casefold() else " ".join(own.split()[:TITLE])


class PageWordsStep:
    """Add the words of the visitor's page to the query, and prefer its passages."""

    name = "page words"

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the page's words; unchanged for a question that refers to no page."""
        page, query = so_far.page, so_far.query
        if page is None:
            return so_far
        if page.asked:
            query = replace(query, text=_joined(query.text, page.added, query.language))
        else:
            query = replace(query, text=page.added, language=page.language or query.language)
        query = replace(query, page=page.url)
        if page.marked:  # the title only gives the subject
            share = 0.0 if page.asked else READ_ALREADY
            query = replace(query, title=page.title or query.title, page_share=share)
        else:
            share = PAGE_NAMED if page.is_named or not page.asked else PAGE_MEANT
            query = replace(query, title="" if page.added else query.title, page_share=share)
        return replace(so_far, query=query)


def _points_at(question: Question, page: VisitorPage, site: Site) -> bool:
    at = pointing(question.text, question.language)
    if at is Pointing.NOT:
        return False
    if at is Pointing.AT_PAGE or page.selection:
        return True
    if question.history:
        return False
    # "What is this?" and "how much is it?" on the start page mean what the site is about.
    about_site = read(question.text, question.language).kind is Kind.OVERVIEW or bare_search(
        question.text, question.language, site.title or site.name
    )
    return not (about_site and urlsplit(page.url).path in _START)


def _without_commands(page: VisitorPage) -> VisitorPage:
    """Drop title or selection if they contain commands to a model: strangers may have written the page."""
    kept = {name: text for name in ("title", "selection") if not command_in(text := getattr(page, name))}
    return replace(page, title=kept.get("title", ""), selection=kept.get("selection", ""))


def _joined(text: str, added: str, language: str) -> str:
    """Append the words that are not in `text`."""
    known = set(tokens(text, language))
    lacking = [word for word in added.split() if not known.issuperset(tokens(word, language))]
    return " ".join([text.rstrip("?？؟ "), *lacking]).strip()


ADDED = 3
"""Number of best passages of the page that are added if the search did not find them."""
UNFOUND = 0.55
"""Base score of such a passage, as a share of the best score, before its coverage of the query."""


class PagePassages:
    """Raise the scores of the visitor's page and add its best passages, if the query refers to the page."""

    name = "page passages"

    def __init__(self, page: Callable[[str], Sequence[Chunk]], rarity: Rarity) -> None:
        """`page` returns the chunks of a page by its stored address."""
        self._page = page
        self._rarity = rarity

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself for a query that refers to no page."""
        if not query.page:
            return list(found)
        best = found[0].score if found else 1.0
        known = {hit.chunk.id for hit in found}
        added = query.page_share * best
        hits = [_preferred(hit, added) if hit.chunk.url == query.page else hit for hit in found]
        others = self._others(query, known, best) if query.page_share > 0 else []
        return ranked([*hits, *others], limit)

    def _others(self, query: Query, known: set[str], best: float) -> list[ScoredChunk]:
        weights = self._rarity.of(query)
        made = []
        for chunk in self._page(query.page):
            if chunk.id in known:
                continue
            share = coverage(weights, set(chunk_tokens(chunk)[0]))  # the title is on all of them
            score = min(1.0, best * (UNFOUND + query.page_share + (1 - UNFOUND) * share))
            made.append(
                ScoredChunk(chunk, score, {"page": round(score, 4)}, why="the visitor is on this page")
            )
        return ranked(made, ADDED)


def _preferred(hit: ScoredChunk, added: float) -> ScoredChunk:
    scores = {**hit.scores, "page": round(added, 4)}
    return replace(hit, score=min(1.0, max(0.0, hit.score + added)), scores=scores)
