"""Answers a visitor who asks for a person with the site's contact details."""

import re
from collections.abc import Callable

from server.answering.phrases import Phrase, say
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.understanding.routing import Kind, read
from server.answering.verifying.citations import Citer
from server.answering.verifying.proofs import Proof
from server.answering.writing.quotation import escape_markdown
from server.answering.writing.units import UnitKind, units
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.contact import ContactOptions
from server.domain.question import Question
from server.domain.site import Site

LINES = 3
_REACH = re.compile(r"[\w.+-]+@[\w-]+\.\w+|(?<!\w)\+?\d[\d ()/.-]{6,}\d")


class Handoff:
    """Implements Shortcut."""

    name = "handoff"

    def __init__(
        self, site: Site, key_pages: KeyPages, origins: frozenset[str], page_text: Callable[[str], str]
    ) -> None:
        """Only pages of `origins` are cited."""
        self._title = escape_markdown(site.title or site.name)
        self._key_pages = key_pages
        self._origins = origins
        self._page_text = page_text
        self._contact = ContactOptions.of(site.options)

    def answer(self, question: Question) -> Answer | None:
        """Return how to get in touch; None when the visitor does not ask for a person."""
        message = read(question.text, question.language)
        if message.kind is not Kind.PERSON:
            return None
        language = message.language or question.language
        first = say(Phrase.PERSON, language, self._title)
        if self._contact.on:
            first = f"{first} {say(Phrase.LEAVE, language, self._title)}"
        chunks = self._chunks()
        # A visitor who can leave a message only sees lines that contain contact details.
        found = _contact_lines(chunks, or_first=not self._contact.on)
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk, _ in found], self._origins, self._page_text)
        lines = []
        for place, (_, text) in enumerate(found):
            _, markers = citer.cite([Proof(place, text)])
            if markers:
                lines.append(f"- {escape_markdown(' '.join(text.split()))} {markers}")
        page = self._page(chunks)
        if not page:
            last = "" if self._contact.on else say(Phrase.NO_CONTACT, language, self._title)
            return Answer(Outcome.HANDOFF, f"{first}\n\n{last}".strip())
        url, title = page
        link = f"{say(Phrase.CONTACT, language, self._title)} [{escape_markdown(title)}](<{url}>)"
        text = "\n\n".join(filter(None, [first, link, "\n".join(lines)]))
        return Answer(Outcome.HANDOFF, text, citer.citations, pages=(page,))

    def _chunks(self) -> list[Chunk]:
        """Return the chunks of the contact page that the operator chose, or that was detected."""
        url = self._contact.page or self._key_pages.contact
        return self._key_pages.chunks(url) if url else []

    def _page(self, chunks: list[Chunk]) -> tuple[str, str] | None:
        """Return (address, title) of the contact page, or None."""
        if chunks:
            return chunks[0].url, chunks[0].title or chunks[0].url
        return (self._contact.page, self._contact.page) if self._contact.page else None


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
