"""Detects by its words which kind of retrieval a question needs.

An overview needs many pages. A question of several hops needs two or more passages to be combined. All other
questions are looked up in one place.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from server.languages.loader import alternatives, compiled, every_pattern

MOST = 3
LONGEST_ASKED = 300
"""Longer texts are not examined, because the patterns would be slow on them."""
_SENTENCES = re.compile(r"(?<=[?？؟])\s*")
_COMPARED = every_pattern(lambda one: one.questions.compared)
_AND = compiled(
    rf"[,，、،;；]?\s+(?:{alternatives(lambda one: one.questions.joined)})"
    rf"\s+(?=(?:{alternatives(lambda one: one.questions.joined_by)})\b)"
    rf"|[，,、]\s*(?:{alternatives(lambda one: one.questions.joined_unspaced)})"
)
_ENDING = re.compile(r"[\s?？؟.。!,，、]+$")


@lru_cache(maxsize=1000)
def compares(text: str) -> bool:
    """Return whether `text` asks how two things differ."""
    return len(text) <= LONGEST_ASKED and any(pattern.search(text) for pattern in _COMPARED)


def parts_of(text: str) -> list[str]:
    """Return at most three questions or subjects of `text`; [] if it asks for only one thing."""
    sentences = [part.strip() for part in _SENTENCES.split(text) if len(part.strip()) > 8]
    if len(sentences) > 1:
        return sentences[:MOST]
    if len(text) > LONGEST_ASKED:
        return []
    for pattern in _COMPARED:
        found = pattern.search(text)
        if found:
            sides = [_ENDING.sub("", side).strip() for side in (found["a"], found["b"])]
            return sides if all(sides) else []
    ends = [part.strip() for part in _AND.split(text) if len(part.strip()) > 8]
    return ends[:MOST] if len(ends) > 1 else []


class QuestionKind(StrEnum):
    """Kinds of questions, with their names in reports and traces."""

    OVERVIEW = "overview"
    SEVERAL = "several"
    LOOKUP = "lookup"


LONGEST = 400
"""Longer texts count as lookups."""
_THEMES = every_pattern(lambda one: one.questions.themes)
_BEHIND = compiled(rf"[\W_]*(?:{alternatives(lambda one: one.questions.behind)})[\W_]*")
_OVERVIEW = (*_THEMES, *every_pattern(lambda one: one.questions.kinds))
_CHAINED = every_pattern(lambda one: one.questions.chained)
_SITE = compiled(rf"[\W_]+|{alternatives(lambda one: one.questions.about_site)}")


@lru_cache(maxsize=1000)
def kind_of(text: str) -> QuestionKind:
    """Return the kind of any text. The kinds are tried in their order."""
    if len(text) > LONGEST:
        return QuestionKind.LOOKUP
    if _matches(_OVERVIEW, text):
        return QuestionKind.OVERVIEW
    if compares(text) or len(parts_of(text)) > 1 or _matches(_CHAINED, text):
        return QuestionKind.SEVERAL
    return QuestionKind.LOOKUP


def asks_for_the_whole(text: str) -> bool:
    """Return whether `text` asks for an overview of the whole site, not of a named subject."""
    return kind_of(text) is QuestionKind.OVERVIEW and not _named(text, _OVERVIEW)


@lru_cache(maxsize=1000)
def asks_for_themes(text: str) -> bool:
    """Return whether `text` asks what the whole site is about, in words that its pages may not use."""
    return len(text) <= LONGEST and _matches(_THEMES, text) and not _named(text, _THEMES)


@lru_cache(maxsize=1000)
def asks_who_is_behind(text: str) -> bool:
    """Return whether `text` asks who runs the site or whom it is for: often only said where the site presents
    itself."""
    return len(text) <= LONGEST and _BEHIND.fullmatch(text) is not None


def _named(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Return the rest of a question without these patterns and words for the site itself."""
    rest = text
    for pattern in patterns:
        rest = pattern.sub(" ", rest)
    return _SITE.sub(" ", rest).strip()


def _matches(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)
