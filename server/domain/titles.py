"""Titles of pages as a visitor would say them, and which pages of a site are its main ones."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from server.languages.loader import alternatives, compiled, languages

LONGEST = 80
_SEPARATED = re.compile(r"\s+[|–—·»]\s+")
_SIGNS = "|".join(pattern for one in languages().values() for pattern in one.headings.chapter_signs) or "(?!)"
_CHAPTER = compiled(
    rf"^(?:(?:{alternatives(lambda one: one.headings.chapters)})\s+(\d+)[.:]?\s+|{_SIGNS}"
    r"|(?P<bare>\d+)[.:]\s+(?=\D))"
)
_SECTION = compiled(
    rf"^(?:(?:{alternatives(lambda one: one.headings.appendices)})\s*)[A-Z\d]{{1,3}}(?:\.\d+)*[.:]?\s+"
    r"|^[A-Z\d]{0,3}(?:\.\d+)+\.?\s+|^[A-Z]\.\s+"
)


def plain_title(title: str) -> str:
    """A page's own title: without its number, and without the site's name behind a separator."""
    own = _SEPARATED.split(" ".join(title.split()))[0]
    return plain_heading(own)[:LONGEST]


def plain_heading(heading: str) -> str:
    """A heading without its number; the heading itself when it is nothing but a number."""
    folded = " ".join(heading.split())
    return _CHAPTER.sub("", _SECTION.sub("", folded)).strip() or folded


def main_first(pages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(address, title) of pages, those first that a newcomer would open first.

    Near the root before deep, chapters in their order before pages without a number, and both before
    numbered sections of something larger.
    """
    return sorted(pages, key=lambda page: (_depth(page[0]), *_number(page[1]), len(page[0]), page[0]))


def _depth(url: str) -> int:
    return urlsplit(url).path.rstrip("/").count("/")


def _number(title: str) -> tuple[int, int]:
    chapter = _CHAPTER.match(title)
    if chapter and not chapter["bare"]:
        return 0, int(next(number for number in chapter.groups() if number))
    return (2, 0) if _SECTION.match(title) else (1, 0)
