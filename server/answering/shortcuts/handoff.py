"""Answers a visitor who asks for a person, complains or is in danger with the site's contact details."""

import re
from collections.abc import Callable, Sequence

from server.answering.phrases import Phrase, say
from server.answering.shortcuts.fact_card import FactCard
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.understanding.routing import Kind, Message, read
from server.answering.verifying.citations import Citer
from server.answering.verifying.proofs import Proof
from server.answering.writing.quotation import escape_markdown
from server.answering.writing.suggestions import heading_of
from server.answering.writing.units import UnitKind, units
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.contact import ContactOptions
from server.domain.question import Query, Question
from server.domain.site import Site
from server.indexes.tokens import tokens

LINES = 3
SHORTEST = 25
"""Shorter sentences occur in several sections."""
LEAST_TOLD = 2
"""Words from which on a visitor who wants a person has said what about."""
_WORD = re.compile(r"[^\W_]+")
_REACH = re.compile(r"[\w.+-]+@[\w-]+\.\w+|(?<!\w)\+?\d[\d ()/.-]{6,}\d")


_PHRASES = {
    Kind.PERSON: Phrase.PERSON,
    Kind.COMPLAINT_ANSWER: Phrase.COMPLAINT_ANSWER,
    Kind.COMPLAINT_SERVICE: Phrase.COMPLAINT_SERVICE,
    Kind.EMERGENCY: Phrase.EMERGENCY,
}


class Handoff:
    """Implements Shortcut."""

    name = "handoff"

    def __init__(
        self,
        site: Site,
        key_pages: KeyPages,
        origins: frozenset[str],
        page_text: Callable[[str], str],
        search: Callable[[Query], Sequence[ScoredChunk]] = lambda query: (),
        card: FactCard | None = None,
    ) -> None:
        """Only pages of `origins` are cited. `search` returns the sections that may answer a query. The facts
        of the `card` are given where the site has no contact page."""
        self._title = escape_markdown(site.title or site.name)
        self._key_pages = key_pages
        self._origins = origins
        self._page_text = page_text
        self._search = search
        self._card = card
        self._contact = ContactOptions.of(site.options)

    def answer(self, question: Question) -> Answer | None:
        """Return kind words, how to get in touch, and for a complaint the sections that may help; None for
        other messages."""
        message = read(question.text, question.language)
        if message.kind not in _PHRASES:
            return None
        language = message.language or question.language
        first = [say(_PHRASES[message.kind], language, self._title)]
        if self._contact.on:
            first.append(say(Phrase.LEAVE, language, self._title))
        chunks = self._chunks()
        # A visitor who can leave a message only sees lines that contain contact details.
        found = _contact_lines(chunks, or_first=not self._contact.on)
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk, _ in found], self._origins, self._page_text)
        lines = []
        for place, (_, text) in enumerate(found):
            _, markers = citer.cite([Proof(place, text)])
            if markers:
                lines.append(f"- {escape_markdown(' '.join(text.split()))} {markers}")
        near = self._near(message, question)
        page = self._page(chunks)
        parts = [" ".join(first)]
        if near:
            parts += [say(Phrase.NEAREST, language), "\n".join(map(_link, near))]
        if page:
            parts += [f"{say(Phrase.CONTACT, language, self._title)} {_link(page)[2:]}", "\n".join(lines)]
        known = None if page or self._contact.on or not self._card else self._card.how_to_reach(language)
        if known:
            parts.append(known.text)
        elif not page and not self._contact.on:
            parts.append(say(Phrase.NO_CONTACT, language, self._title))
        pages = (*near, *([page] if page else []))
        return Answer(
            Outcome.HANDOFF,
            "\n\n".join(filter(None, parts)),
            known.citations if known else citer.citations,
            pages=pages,
            trace={"mood": message.kind.value},
        )

    def person(self, language: str) -> tuple[str, tuple[str, str] | None]:
        """Return a line on how to reach a person, "" if nothing is known, and the page that it links."""
        if self._contact.on:
            return say(Phrase.LEAVE, language, self._title), None
        page = self._page(self._chunks())
        if not page:
            reach = self._card.reach(language) if self._card else []
            known = ", ".join(escape_markdown(fact.shown) for fact in reach)
            return (f"{self._title}: {known}" if known else ""), None
        return f"{say(Phrase.CONTACT, language, self._title)} {_link(page)[2:]}", page

    def _near(self, message: Message, question: Question) -> list[tuple[str, str]]:
        """Return (address, title) of sections that may help a visitor who complains, or who says what a
        person is wanted for: about the matter, or for the last question, without those that it quoted."""
        kind, said = message.kind, ""
        if kind is Kind.COMPLAINT_SERVICE:
            found = self._search(Query(question.text, question.language))
        elif kind is Kind.PERSON and len(tokens(message.text, question.language)) >= LEAST_TOLD:
            found = self._search(Query(message.text, question.language))
        elif kind is Kind.COMPLAINT_ANSWER and question.history and question.history[-1].query:
            last = question.history[-1]
            found, said = self._search(Query(last.query, last.language)), _words(last.answer)
        else:
            return []
        sections = dict.fromkeys((hit.chunk.url, heading_of(hit.chunk)) for hit in found)
        if said:  # an answer in other words is made from the best section
            shown = [hit.chunk for hit in found if _quotes(said, hit.chunk)] or [
                hit.chunk for hit in found[:1]
            ]
            for chunk in shown:
                sections.pop((chunk.url, heading_of(chunk)), None)
        return list(sections)[:LINES]

    def _chunks(self) -> list[Chunk]:
        """Return the chunks of the contact page that the operator chose, or that was detected."""
        url = self._contact.page or self._key_pages.contact
        return self._key_pages.chunks(url) if url else []

    def _page(self, chunks: list[Chunk]) -> tuple[str, str] | None:
        """Return (address, title) of the contact page, or None."""
        if chunks:
            return chunks[0].url, chunks[0].title or chunks[0].url
        if self._contact.page:
            return self._contact.page, self._contact.page
        return self._key_pages.contact_link


def _link(page: tuple[str, str]) -> str:
    return f"- [{escape_markdown(page[1])}](<{page[0]}>)"


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _quotes(said: str, chunk: Chunk) -> bool:
    """Return whether an answer, as words, contains a sentence of the chunk."""
    sentences = (_words(unit.text) for unit in units(chunk.text))
    return any(len(sentence) > SHORTEST and sentence in said for sentence in sentences)


def _contact_lines(chunks: list[Chunk], *, or_first: bool) -> list[tuple[Chunk, str]]:
    """Return the lines with an email address or a phone number. Without any, return the page's first lines
    if `or_first` is set."""
    found = [
        (chunk, unit.text)
        for chunk in chunks
        for unit in units(chunk.text)
        if unit.kind is not UnitKind.CODE and len(unit.text) < 400
    ]
    reach = [one for one in found if _REACH.search(one[1])]
    return (reach or (found if or_first else []))[:LINES]
