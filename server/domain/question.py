"""What the visitor asked, and how it is searched."""

from __future__ import annotations

from dataclasses import dataclass

from server.domain.visitor_page import VisitorPage


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of the visitor with the answer that it got."""

    question: str
    answer: str
    query: str = ""
    """The standalone query that found the answer; empty if none was found."""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the visitor asked it, with what was said before."""

    text: str
    site_id: str
    history: tuple[Turn, ...] = ()
    """Earlier turns of this conversation, oldest first."""
    language: str = ""
    """Primary language subtag of the question, "en" when nothing tells otherwise."""
    avoid: tuple[str, ...] = ()
    """Claims of an earlier try that the pages do not support: a writer that words answers leaves them out."""
    page: VisitorPage | None = None
    """Where it was asked, as the visitor's browser says. An answer is made with it only where the question
    points at it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is searched: it stands alone."""

    text: str
    language: str = ""
    title: str = ""
    """The site's title where it helps the meaning: appended for the embedder, not for the word index,
    in which it would stand in nearly every chunk."""
    previous: tuple[str, ...] = ()
    """Queries of earlier turns, newest first: retrieval adds a part of their scores."""
    typed: str = ""
    """The question as it was typed, where typing errors in it were mended; else empty."""
    page: str = ""
    """Stored address of the page that the question points at."""
    page_share: float = 0.0
    """Share of the best score by which that page's chunks are preferred; below 0 those of others are."""

    @property
    def searched_text(self) -> str:
        """What is embedded."""
        return f"{self.text} {self.title}" if self.title else self.text
