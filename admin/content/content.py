"""The pages of a site that visitors are answered from, and what a question finds in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flask import render_template, request
from flask.typing import ResponseReturnValue

from admin.formats import language_name
from admin.lists import Listing, listed, one_of
from admin.page import Page
from admin.sites import sites as sites_page
from admin.texts import _, lazy
from server.answering.understanding.language import question_language
from server.api.access import configuration, stores
from server.api.access import engine as answering_engine
from server.domain.addresses import absolute
from server.domain.chunk import ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Question
from server.domain.sentences import text_blocks
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.runtime.engine import SiteEngine
from server.storage.content.decisions import MOST_PINS, PageDecision
from server.storage.content.page_list import (
    BROKEN,
    CITED,
    EDITED,
    ELSEWHERE,
    NEWS,
    PINNED,
    SORTS,
    STATES,
    UNCITED,
    WEBSITE,
    ListedPage,
    PageFilter,
    PageList,
)
from server.storage.content.quotes import QuoteHealth

page = Page(tab=lazy("Content"), under=sites_page.page, help="content")

ROWS = 50
EXCLUDED, LOST = "excluded", "lost"
STATE_OPTIONS = (
    ("", lazy("Every page")),
    (CITED, lazy("Cited in answers")),
    (UNCITED, lazy("Never cited")),
    (BROKEN, lazy("With broken quotes")),
    (LOST, lazy("Quoted, and gone")),
    (EDITED, lazy("Corrected")),
    (NEWS, lazy("Corrected, and changed since")),
    (PINNED, lazy("Pinned")),
    (EXCLUDED, lazy("Excluded")),
)
SORT_OPTIONS = (
    ("address", lazy("By address")),
    ("times", lazy("Most cited first")),
    ("last", lazy("Last cited first")),
)
SOURCE_OPTIONS = (
    ("", lazy("From anywhere")),
    (WEBSITE, lazy("From the website")),
    (ELSEWHERE, lazy("From sources")),
)


@page.get("/sites/<site_id>/pages")
def content(site: Site) -> ResponseReturnValue:
    """Filtered by `search`, `language`, `source` and `state`, sorted by `sort`."""
    base = configuration().settings.serving.base_url
    asked, pages = _asked(), stores().page_list(site.id, base)
    live_pages, live_chunks = stores().content(site.id).counts()
    rows = _rows(site, asked, pages)
    addresses = {found.url: absolute(found.url, base) for found in rows.rows}
    languages = [(name, language_name(name)) for name in pages.languages()]
    return render_template(
        "admin/content.html",
        pages=rows,
        asked=asked,
        kept_out=asked.state == EXCLUDED,
        lost=asked.state == LOST,
        live_pages=live_pages,
        live_chunks=live_chunks,
        addresses=addresses,
        figures=stores().cited_pages(site.id).figures(addresses.values()),
        decided=stores().decisions(site.id).counts(),
        quotes=stores().quotes(site.id).counts(),
        most_pins=MOST_PINS,
        languages=[("", _("Any language")), *languages] if len(languages) > 1 else [],
        states=STATE_OPTIONS,
        sorts=SORT_OPTIONS,
        sources=SOURCE_OPTIONS,
    )


def _asked() -> PageFilter:
    """What is asked for; EXCLUDED and LOST are states with lists of their own."""
    given = {name: request.args.get(name, "").strip()[:200] for name in ("search", "language", "source")}
    state = one_of("state", (*STATES, EXCLUDED, LOST))
    return PageFilter(**given, state=state, sort=one_of("sort", SORTS, SORTS[0]))


ContentRow = ListedPage | PageDecision | QuoteHealth


def _rows(site: Site, asked: PageFilter, pages: PageList) -> Listing[ContentRow]:
    def fetch(limit: int, offset: int) -> Sequence[ContentRow]:
        if asked.state == EXCLUDED:
            return stores().decisions(site.id).excluded(limit, offset, asked.search)
        if asked.state == LOST:
            return stores().quotes(site.id).lost(limit, offset)
        return pages.find(asked, limit, offset)

    return listed(fetch, ROWS)


@dataclass(frozen=True, slots=True)
class VisitorSearch:
    """What was found, and what of it an answer would be written from."""

    query: str
    """The question as it was searched."""
    hits: Sequence[ScoredChunk]
    """Best first."""
    kept: frozenset[str]
    """Ids of the chunks that reach the writer; none when the site is taken not to answer."""
    answerability: float | None
    """In [0, 1], of the question with all that was found; None where it is not asked."""
    floor: float
    """Below this the visitor gets a refusal."""


def visitor_search(engine: SiteEngine, site: Site, text: str) -> VisitorSearch:
    """Nothing is written down of it. Raises IndexFailure, ModelError, StorageError."""
    question = Question(text, site.id, (), question_language(text, site.language or "en"))
    pipeline = engine.pipeline(site)
    query = pipeline.rewrite(question)
    hits = pipeline.search(question, engine.settings.retrieval.retrieve_limit)
    grader = engine.grader(site, engine.parts(site.id))
    graded = grader.grade(query, hits)
    kept = frozenset(hit.chunk.id for hit in graded.kept)
    return VisitorSearch(query.text, hits, kept, graded.answerability, graded.floor)


_ITEM = re.compile(r"^(?P<indent> *)(?P<marker>-|\d+\.) (?P<text>.*)$")


class Part(NamedTuple):
    """One paragraph, list, table or piece of code."""

    kind: str
    """text, list, table or code."""
    lines: list[list[str]]
    """Cells of each row of a table; one text a line otherwise, with its marker before it in a list."""


def chunk_blocks(text: str) -> list[Part]:
    """In order; line conventions as in `crawler.page`."""
    return [
        Part("code", [[block]]) if is_code else _part(block.split("\n"))
        for is_code, block in text_blocks(text)
    ]


def _part(lines: list[str]) -> Part:
    items = [_ITEM.match(line) for line in lines]
    if all(items):
        return Part("list", [[item["indent"] + item["marker"], item["text"]] for item in items if item])
    if any("\t" in line for line in lines):
        return Part("table", [line.split("\t") for line in lines])
    return Part("text", [[line] for line in lines])


search_page = Page(under=page, help="content#what-would-a-visitors-question-find")


@search_page.get("/sites/<site_id>/content/search")
def content_search(site: Site) -> ResponseReturnValue:
    """The question in `?q=`."""
    question = request.args.get("q", "").strip()[: configuration().settings.limits.message_chars]
    found: VisitorSearch | None = None
    fault = ""
    if question and not site.generation:
        fault = _("No page of this site is live yet. Crawl it first.")
    elif question:
        try:
            found = visitor_search(answering_engine(), site, question)
        except (IndexFailure, ModelError) as error:
            fault = str(error)
    return render_template(
        "admin/content_search.html",
        question=question,
        found=found,
        fault=fault,
        texts={hit.chunk.id: chunk_blocks(hit.chunk.text) for hit in found.hits} if found else {},
    )
