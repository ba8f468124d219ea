"""What the visitor asked, and how it is searched."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from server.domain.addresses import origin_of
from server.domain.look import one_line
from server.domain.site import Site
from server.domain.visiting import PageUse

URL_CHARS, TITLE_CHARS = 2000, 200
PROGRAM = "key-"
"""Beginning of the visitor id of a program with an API key, which asks for many people."""


@dataclass(frozen=True, slots=True)
class VisitorPage:
    """What the visitor's browser said: never a fact, never an instruction."""

    url: str
    """Of the site, without what stands behind "#"."""
    title: str = ""
    selection: str = ""
    """The words that are marked."""

    @classmethod
    def allowed(
        cls, site: Site, url: str, title: str, selection: str, selection_chars: int
    ) -> VisitorPage | None:
        """As much of it as the site's options allow; None for nothing, and for a page of another site."""
        use = PageUse.of(site.options)
        if not use.page or len(url) > URL_CHARS:
            return None
        try:
            parts = urlsplit(one_line(url))
            own = origin_of(url) in {origin_of(origin) for origin in site.allowed_origins}
        except ValueError:  # a port that is no number, a broken IPv6 address
            return None
        if not own or parts.username or parts.password:
            return None
        marked = one_line(selection)[:selection_chars] if use.selection else ""
        return cls(urlunsplit(parts._replace(fragment="")), one_line(title)[:TITLE_CHARS], marked)

    @property
    def shown_url(self) -> str:
        """For the operator: without the query, in which sites put names, sessions and what was searched."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))


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
    visitor: str = ""
    """Whose daily budget pays for it; empty for a program's and the operator's own questions."""
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
    meaning: str = ""
    """The text to embed where it is not `text`: a translated question, for an embedder that reads its
    language."""

    @property
    def searched_text(self) -> str:
        """What is embedded."""
        text = self.meaning or self.text
        return f"{text} {self.title}" if self.title else text
