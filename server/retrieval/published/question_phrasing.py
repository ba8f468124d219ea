"""Headings as a visitor would ask for them."""

from __future__ import annotations

import re

from server.languages.loader import alternatives, compiled

_MARK = re.compile(r"[?？؟]\s*$")
_BEGINS = compiled(alternatives(lambda one: one.questions.begins))
NUMBER = compiled(
    rf"^(?:{alternatives(lambda one: one.headings.numbered)})\s+(?:\d+|[A-Z])(?:\.\d+)*\.?\s+"
    r"|^(?:\d+|[A-Z])(?:\.\d+)+\.?\s+|^\d+[.)]\s+"
)
LONGEST = 200
"""Characters of a heading that is taken for a question; longer ones are texts."""


def is_question(text: str) -> bool:
    """By its question mark, or by a first word that asks for something."""
    return bool(_MARK.search(text) or _BEGINS.match(text))


def bare(heading: str) -> str:
    """A heading without its number: "5.2. Default Values" -> "Default Values"."""
    return NUMBER.sub("", heading).strip() or heading.strip()


def phrase(heading: str, title: str) -> str:
    """What is asked for by a heading on a page called `title`: a question as it stands, or the heading with
    what it is about, since "Overview" alone asks for nothing."""
    name = bare(heading)
    if is_question(name) or not title or name.casefold() in title.casefold():
        return name
    if title.casefold() in name.casefold():
        return name
    return f"{bare(title)}: {name}"
