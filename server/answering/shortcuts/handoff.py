"""Answers a visitor who wants to talk to a person: where the site says how to get in touch."""

from __future__ import annotations

import re
from collections.abc import Callable

from server.answering.phrases import Said, say
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
        self, site: Site, landmarks: KeyPages, origins: frozenset[str], page_text: Callable[[str], str]
    ) -> None:
        """Only pages of `origins` are cited."""
        self._title = escape_markdown(site.title or site.name)
        self._landmarks = landmarks
        self._origins = origins
        self._page_text = page_text
        self._contact = ContactOptions.of(site.options)

    def answer(self, question: Question) -> Answer | None:
        """None when nobody is asked for."""
        message = read(question.text, question.language)
        if message.kind is not Kind.PERSON:
            return None
        language = message.language or question.language
        first = say(Said.PERSON, language, self._title)
        if self._contact.on:
            first = f"{first} {say(Said.LEAVE, language, self._title)}"
        chunks = self._chunks()
        # Who can leave a message needs no line that tells nothing of how to get in touch.
        told = _told(chunks, or_first=not self._contact.on)
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk, _ in told], self._origins, self._page_text)
        lines = []
        for place, (_, text) in enumerate(told):
            _, markers = citer.cite([Proof(place, text)])
            if markers:
                lines.append(f"- {escape_markdown(' '.join(text.split()))} {markers}")
        page = self._page(chunks)
        if not page:
            last = "" if self._contact.on else say(Said.NO_CONTACT, language, self._title)
            return Answer(Outcome.HANDOFF, f"{first}\n\n{last}".strip())
        url, title = page
        link = f"{say(Said.CONTACT, language, self._title)} [{escape_markdown(title)}](<{url}>)"
        text = "\n\n".join(filter(None, [first, link, "\n".join(lines)]))
        return Answer(Outcome.HANDOFF, text, citer.citations, pages=(page,))

    def _chunks(self) -> list[Chunk]:
        """Of the page that the operator names, if it was read; else of the one that is found."""
        url = self._contact.page or self._landmarks.contact
        return self._landmarks.chunks(url) if url else []

    def _page(self, chunks: list[Chunk]) -> tuple[str, str] | None:
        """Address and title of the page about getting in touch."""
        if chunks:
            return chunks[0].url, chunks[0].title or chunks[0].url
        return (self._contact.page, self._contact.page) if self._contact.page else None


def _told(chunks: list[Chunk], *, or_first: bool) -> list[tuple[Chunk, str]]:
    """What a page says of how to get in touch: lines with an address or a number; its first lines when
    there is none and `or_first` asks for them."""
    found = [
        (chunk, unit.text)
        for chunk in chunks
        for unit in units(chunk.text)
        if unit.kind is not UnitKind.CODE and len(unit.text) < 400
    ]
    reach = [one for one in found if _REACH.search(one[1])]
    return (reach or (found if or_first else []))[:LINES]
