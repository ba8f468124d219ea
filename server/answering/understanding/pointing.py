"""Whether a question points at the page that the visitor is on, in every language that has the words for it.

"How much is this?" cannot be understood without the page. A question that stands alone must be answered the
same on every page, so what counts here is narrower than in `understanding/reference.py`: an "it" that may
mean nothing ("is it possible to ...") is no pointing.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from server.answering.understanding.reference import content_size
from server.answering.understanding.routing import Kind, read
from server.languages.loader import alternatives, compiled


class Pointing(StrEnum):
    """At what a question points, outside of what was said."""

    NOT = "not"
    AT_PAGE = "page"
    """It names the page, a part of it, or what is marked there."""
    AT_THING = "thing"
    """At something at hand: what was marked, what was spoken of before, or what the page is about."""


LONGEST = 300
"""Characters beyond which a text is taken to tell all that is needed."""
WITH_NOUN, ALONE, IT = 5, 4, 2
"""Content words that a question has at most: with "this lamp", with "this", with "it"."""

_AT_PAGE = compiled(alternatives(lambda one: one.this_page.parts))
_EXPLETIVE = compiled(alternatives(lambda one: one.this_page.means_nothing))
_SHORT = compiled(rf"^\W*({alternatives(lambda one: one.this_page.short)})[\s?？!.。؟]*$")
_WISH = compiled(alternatives(lambda one: one.this_page.wish))
"""What is wanted of the page's words: it stands on no page, and would count as missing there."""
_THINGS = (
    (WITH_NOUN, compiled(alternatives(lambda one: one.this_page.with_noun))),
    (ALONE, compiled(alternatives(lambda one: one.this_page.alone))),
    (IT, compiled(alternatives(lambda one: one.this_page.it))),
)


@lru_cache(maxsize=1000)
def pointing(text: str, language: str = "") -> Pointing:
    """At what `text` points; NOT for a question that stands alone, and for no question at all."""
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
    """What a question asks of the page: "returns" of "what does this page say about returns?"."""
    rest = _SHORT.sub(" ", _AT_PAGE.sub(" ", text))
    left = _WISH.sub(" ", rest)
    words = re.findall(r"\w{2,}", left)
    return " ".join(left.split()) if words else ""


def is_about_all(text: str, language: str = "") -> bool:
    """Whether it may as well ask what the site is: "what is this?"."""
    return read(text, language).kind is Kind.OVERVIEW
