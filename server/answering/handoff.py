"""Answers a visitor who wants to talk to a person: where the site says how to get in touch."""

from __future__ import annotations

import re
from collections.abc import Callable

from server.answering.citations import Citer
from server.answering.landmarks import Landmarks
from server.answering.proofs import Proof
from server.answering.quotation import escape_markdown
from server.answering.routing import Kind, read
from server.answering.talk import Said, say
from server.answering.units import UnitKind, units
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
        self, site: Site, landmarks: Landmarks, origins: frozenset[str], page_text: Callable[[str], str]
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
        url = self._landmarks.contact
        told = _told(self._landmarks.chunks(url)) if url else []
        citer = Citer([ScoredChunk(chunk, 1.0) for chunk, _ in told], self._origins, self._page_text)
        lines = []
        for place, (_, text) in enumerate(told):
            _, markers = citer.cite([Proof(place, text)])
            if markers:
                lines.append(f"- {escape_markdown(' '.join(text.split()))} {markers}")
        if not lines:
            return Answer(Outcome.HANDOFF, f"{first}\n\n{self._without_page(language)}".strip())
        chunk = told[0][0]
        link = f"[{escape_markdown(chunk.title or chunk.url)}](<{chunk.url}>)"
        page = f"{say(Said.CONTACT, language, self._title)} {link}"
        text = "\n\n".join([first, page, "\n".join(lines)])
        return Answer(Outcome.HANDOFF, text, citer.citations, pages=((chunk.url, chunk.title or chunk.url),))

    def _without_page(self, language: str) -> str:
        """Where the operator says to get in touch, when no page that was read says so."""
        if page := self._contact.page:
            return f"{say(Said.CONTACT, language, self._title)} [{escape_markdown(page)}](<{page}>)"
        return "" if self._contact.on else say(Said.NO_CONTACT, language, self._title)


def _told(chunks: list[Chunk]) -> list[tuple[Chunk, str]]:
    """What a page says of how to get in touch: lines with an address or a number, else its first lines."""
    found = [
        (chunk, unit.text)
        for chunk in chunks
        for unit in units(chunk.text)
        if unit.kind is not UnitKind.CODE and len(unit.text) < 400
    ]
    return ([one for one in found if _REACH.search(one[1])] or found)[:LINES]
