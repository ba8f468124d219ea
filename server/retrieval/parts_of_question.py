"""The things that one question asks for: its sentences, the sides of a comparison, both ends of an "and"."""

from __future__ import annotations

import re
from functools import lru_cache

from server.languages.loader import alternatives, compiled, every_pattern

MOST = 3
LONGEST = 300
"""A longer text is not looked at: it tells a story, and patterns would take long over it."""
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
    """Whether `text` asks how two things differ."""
    return len(text) <= LONGEST and any(pattern.search(text) for pattern in _COMPARED)


def parts_of(text: str) -> list[str]:
    """At most three questions or subjects that `text` asks for; [] when it asks for one thing."""
    sentences = [part.strip() for part in _SENTENCES.split(text) if len(part.strip()) > 8]
    if len(sentences) > 1:
        return sentences[:MOST]
    if len(text) > LONGEST:
        return []
    for pattern in _COMPARED:
        found = pattern.search(text)
        if found:
            return _sides(found["a"], found["b"])
    ends = [part.strip() for part in _AND.split(text) if len(part.strip()) > 8]
    return ends[:MOST] if len(ends) > 1 else []


def _sides(one: str, other: str) -> list[str]:
    sides = [_ENDING.sub("", side).strip() for side in (one, other)]
    return sides if all(sides) else []
