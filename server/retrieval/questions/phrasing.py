"""Headings as a visitor would ask for them."""

from __future__ import annotations

import re

_MARK = re.compile(r"[?？؟]\s*$")
_BEGINS = re.compile(
    r"""(?:how|what|when|where|who|whom|whose|which|why|can|could|should
      |wie|wann|wo|wohin|wer|warum|welche[rsnm]?|kann|können|darf|muss
      |comment|quel\w*|quand|où|pourquoi|combien|cómo|qué|cuándo|dónde|quién|como|quando|onde
      |как|что|когда|где|кто|почему|сколько)\ [^\W\d_]+
    | (?:如何|怎么|怎樣|怎样|什么|什麼|为什么|為什麼|哪里|哪裡|是否|能否)""",
    re.IGNORECASE | re.VERBOSE,
)
_NUMBER = re.compile(
    r"^(?:chapter|section|part|appendix)\s+(?:\d+|[A-Z])(?:\.\d+)*\.?\s+|^(?:\d+|[A-Z])(?:\.\d+)+\.?\s+|^\d+[.)]\s+",
    re.IGNORECASE,
)
LONGEST = 200
"""Characters of a heading that is taken for a question; longer ones are texts."""


def is_question(text: str) -> bool:
    """By its question mark, or by a first word that asks for something."""
    return bool(_MARK.search(text) or _BEGINS.match(text))


def bare(heading: str) -> str:
    """A heading without its number: "5.2. Default Values" -> "Default Values"."""
    return _NUMBER.sub("", heading).strip() or heading.strip()


def phrase(heading: str, title: str) -> str:
    """What is asked for by a heading on a page called `title`: a question as it stands, or the heading with
    what it is about, since "Overview" alone asks for nothing."""
    name = bare(heading)
    if is_question(name) or not title or name.casefold() in title.casefold():
        return name
    if title.casefold() in name.casefold():
        return name
    return f"{bare(title)}: {name}"
