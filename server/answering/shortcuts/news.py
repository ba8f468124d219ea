"""Answers "what's new?" with the newest posts of the site."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from server.answering.phrases import Phrase, say, written_day
from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.overview import is_prose
from server.answering.shortcuts.small_talk import offered
from server.answering.understanding.routing import read
from server.answering.verifying.citations import Citer
from server.answering.verifying.proofs import Proof
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.quotation import escape_markdown, markdown_link
from server.answering.writing.units import UnitKind
from server.domain.answer import Answer, Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Question
from server.domain.sentences import plain_title
from server.domain.site import Site
from server.languages.loader import alternatives, compiled

MOST, FEWEST = 4, 2
"""Number of posts that are named, and how many a site must have."""
_ASKED = compiled(rf"^\W*(?:{alternatives(lambda one: one.questions.news)})\W*$")


@dataclass(frozen=True, slots=True)
class News:
    """Implements Shortcut: names the newest posts and quotes how each begins."""

    site: Site
    key_pages: KeyPages
    origins: frozenset[str]
    """Only pages of these origins are cited."""
    page_text: Callable[[str], str]
    today: Callable[[], date] = date.today
    name = "news"

    def answer(self, question: Question) -> Answer | None:
        """Return the posts, newest first; None for other questions, and for a site with hardly any."""
        title = self.site.title or self.site.name
        asked = read(question.text, question.language).text
        text = re.sub(rf"{re.escape(title)}\W*$", "", asked, flags=re.I)
        if question.page or not _ASKED.match(text):
            return None
        posts = self.key_pages.newest(MOST, question.language, self.today())
        if len(posts) < FEWEST:
            return None
        citer = Citer([ScoredChunk(post, 1.0) for post in posts], self.origins, self.page_text)
        lines = []
        for place, post in enumerate(posts):
            line = f"- {markdown_link(plain_title(post.title), post.url)}"
            if not post.dated.endswith("-01"):  # else perhaps only the month or the year is known
                line += f" ({written_day(question.language, date.fromisoformat(post.dated))})"
            opening = _opening(post)
            markers = citer.cite([Proof(place, opening)])[1] if opening else ""
            lines.append(f"{line}: {escape_markdown(opening)} {markers}" if markers else line)
        text = "\n".join([say(Phrase.NEWEST, question.language, escape_markdown(title)), "", *lines])
        pages = tuple((post.url, post.title) for post in posts)
        return Answer(Outcome.ANSWERED, text, citer.citations, suggestions=offered(self.site), pages=pages)


def _opening(post: Chunk) -> str:
    """Return the first complete sentence of a post that may be quoted; "" without one."""
    found = (unit for unit in trusted_units(post.text) if unit and unit.kind is UnitKind.SENTENCE)
    return next((unit.text for unit in found if is_prose(unit.text)), "")
