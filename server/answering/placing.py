"""Which questions are understood with the page that they were asked on: those that point at it alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from server.answering.pointing import Pointing, is_about_all, pointing, without_pointing
from server.answering.trace import Trace
from server.domain.chunk import Chunk
from server.domain.protocols import Rewriter
from server.domain.question import Query, Question, VisitorPage
from server.domain.site import Site
from server.domain.titles import plain_title
from server.guards.commands import command_in
from server.indexes.tokens import tokens

MARKED, TITLE = 14, 8
"""Words of what is marked, and of the title, that are searched with the question at most."""

PAGE_NAMED, PAGE_MEANT = 0.5, 0.15
"""How much the page's own passages are preferred: where it is asked about, and where something on it is."""
READ_ALREADY = -0.3
"""The same where it is asked what marked words mean: better explained elsewhere than read out again."""


def placed(question: Question, site: Site, trace: Trace) -> Question:
    """The question with its page where it points at it, else without; either way noted for the operator."""
    page = _without_commands(question.page)
    if page is None:
        return replace(question, page=None)
    used = _points_at(question, page, site)
    seen = {"url": page.shown_url, "title": page.title, "used": used}
    trace.note("page", seen | ({"selection": page.selection} if used and page.selection else {}))
    return replace(question, page=page if used else None)


class PageRewriter:
    """Implements Rewriter around another one: adds the words of the page that a question points at.

    What is marked goes before what was said earlier, and the page is only looked at where nothing was said,
    unless the question names it: then the conversation is left out of the query.
    """

    def __init__(self, rewriter: Rewriter, chunks: Callable[[str], Sequence[Chunk]], site_title: str) -> None:
        """`chunks` gives those of a page by its address in the visitor's browser; [] for one not indexed."""
        self._rewriter = rewriter
        self._chunks = chunks
        self._site_title = site_title

    def rewrite(self, question: Question) -> Query:
        """As the inner one for a question without a page."""
        page = question.page
        if page is None:
            return self._rewriter.rewrite(question)
        chunks = self._chunks(page.url)
        title = self._own_title(chunks[0].title if chunks else page.title)
        marked = " ".join(word[: 3 * MARKED] for word in page.selection.split()[:MARKED])
        asked = without_pointing(question.text)
        added = marked or title
        if not asked and not added:
            return self._rewriter.rewrite(question)
        query = self._searched(question, asked, added, chunks[0].language if chunks else "")
        on_page = replace(query, page=chunks[0].url if chunks else "")
        if marked:  # the title only says what it is about
            return replace(on_page, title=title or query.title, page_share=0.0 if asked else READ_ALREADY)
        named = pointing(question.text, question.language) is Pointing.AT_PAGE
        share = PAGE_NAMED if named or not asked else PAGE_MEANT
        return replace(on_page, title="" if added else query.title, page_share=share)

    def _searched(self, question: Question, asked: str, added: str, language: str) -> Query:
        """The inner one's query for what is asked, with the words that are added; `language` is theirs."""
        alone = replace(question, text=asked or added, history=())
        query = self._rewriter.rewrite(alone)
        if not asked:
            return replace(query, text=added, language=language or query.language)
        if language and query.language != language:
            # With the page's words there may be enough to tell what a foreign question asks.
            query = self._rewriter.rewrite(replace(alone, text=f"{asked} {added}"))
        return replace(query, text=_joined(query.text, added, query.language))

    def _own_title(self, title: str) -> str:
        """The first words; empty when it is the site's own."""
        own = plain_title(title)
        return "" if own.casefold() == self._site_title.casefold() else " ".join(own.split()[:TITLE])


def _points_at(question: Question, page: VisitorPage, site: Site) -> bool:
    at = pointing(question.text, question.language)
    if at is Pointing.NOT:
        return False
    if at is Pointing.AT_PAGE or page.selection:
        return True
    if is_about_all(question.text, question.language):  # "what is this?" on the start page means the site
        return not question.history and page.url.rstrip("/") not in {
            url.rstrip("/") for url in site.start_urls
        }
    return not question.history


def _without_commands(page: VisitorPage | None) -> VisitorPage | None:
    """Words that order a model about are not taken along: pages may show what strangers wrote."""
    if page is None:
        return None
    kept = {name: text for name in ("title", "selection") if not command_in(text := getattr(page, name))}
    return replace(page, title=kept.get("title", ""), selection=kept.get("selection", ""))


def _joined(text: str, added: str, language: str) -> str:
    """`text` and the words that it lacks."""
    known = set(tokens(text, language))
    lacking = [word for word in added.split() if not known.issuperset(tokens(word, language))]
    return " ".join([text.rstrip("?？؟ "), *lacking]).strip()
