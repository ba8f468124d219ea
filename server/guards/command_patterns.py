"""Finds what is worded like a command to a model, in every language.

A pattern is only tried on a text that holds one of its beginnings: the first four letters of a word that
every match starts with, or, where words are not set apart, some of its characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from server.languages.loader import compiled, languages
from server.languages.sections import Family, Pattern

_MARKUP = Family(
    Pattern(
        r"""<\|?/?(im_start|im_end|endoftext)\|?> | <\|(system|assistant|user)\|> | \[/?inst\] | <</?sys>>
          | </?(chunk|history|system_prompt|system)\b(\s(number|title)=[^>]{0,80})?>\s*\S
          | \#{2,}\s*(system|instructions?|new\W+instructions?)\s*:"""
    ),
    holds=("<", "[", "##"),
)
"""Marks that models are trained with."""
_FAMILIES = [
    (family, compiled(family.pattern, re.I | re.X))
    for family in (_MARKUP, *(family for one in languages().values() for family in one.commands.families))
]
_WORD = re.compile(r"[^\W\d_]+")
_BY_BEGINNING: dict[str, list[tuple[Family, re.Pattern[str]]]] = {}
for _family, _pattern in _FAMILIES:
    for _letters in _family.begins:
        _BY_BEGINNING.setdefault(_letters, []).append((_family, _pattern))
_HELD = re.compile("|".join(re.escape(part) for one, _ in _FAMILIES for part in one.holds))
"""Any part that a family looks for: most texts hold none."""


def commands(text: str, *, on_page: bool) -> Iterator[re.Match[str]]:
    """Every place where `text` is worded like a command."""
    for word in _WORD.finditer(text):
        for family, pattern in _BY_BEGINNING.get(word.group()[:4].lower(), ()):
            if on_page or not family.page_only:
                found = pattern.match(text, word.start())
                if found:
                    yield found
    if not _HELD.search(text):
        return
    for family, pattern in _FAMILIES:
        if family.holds and any(part in text for part in family.holds):
            yield from pattern.finditer(text)
