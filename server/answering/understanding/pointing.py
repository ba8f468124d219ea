"""Detects questions that refer to the page that the visitor is on, in every language with such words.

"How much is this?" cannot be understood without the page. A question that can be understood alone must get
the same answer on every page, so the rules are narrower than in `understanding/reference.py`: an "it" that
may mean nothing ("is it possible to ...") does not count.
"""

import re
from enum import StrEnum
from functools import lru_cache

from server.answering.understanding.reference import content_size
from server.answering.understanding.routing import Kind, read
from server.languages.loader import alternatives, compiled


class Pointing(StrEnum):
    """Targets that a question may refer to, apart from the conversation."""

    NOT = "not"
    AT_PAGE = "page"
    """The page, a part of it, or the text selected on it."""
    AT_THING = "thing"
    """Something unnamed: the selected text, the subject of the conversation, or the subject of the page."""


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


def is_about_site(text: str, language: str = "") -> bool:
    """Return whether the question may be about the whole site, as in "what is this?"."""
    return read(text, language).kind is Kind.OVERVIEW
