"""Classifies a visitor's message by its words: small talk, a request, or a question about the site.

A message is small talk only if it contains nothing else: "Hello, how do I return a lamp?" is a question. Its
greeting is removed so that it is not searched.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from server.languages.loader import compiled, languages
from server.languages.loader import language as known


class Kind(StrEnum):
    """Kinds of messages, in ascending priority for a message that combines several."""

    FILLER = "filler"
    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    IDENTITY = "identity"
    OVERVIEW = "overview"
    PERSON = "person"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Message:
    """A classified message."""

    kind: Kind
    language: str
    """Language of the recognised phrases; empty for a question."""
    text: str
    """The message; for a question, without its greeting."""


LONGEST = 120
"""Messages with more characters are never only small talk."""
_ORDER = tuple(Kind)
_GAP = re.compile(r"[^\w\u0300-\u036f]+|_+")
_CUT = (Kind.GREETING, Kind.FILLER, Kind.WELLBEING, Kind.THANKS)


@lru_cache(maxsize=1000)
def read(text: str, language: str = "") -> Message:
    """Classify any text. `language` is tried first, because "hallo" exists in several languages."""
    text = text.strip()
    if not any(char.isalnum() for char in text):
        return Message(Kind.GREETING, "", text)  # an emoji or "???": the greeting's suggestions help
    if len(text) <= LONGEST:
        for tried in _languages(language):
            kinds, rest = _consumed(text, tried)
            if not rest and any(kind is not Kind.FILLER for kind in kinds):
                return Message(max(kinds, key=_ORDER.index), tried, text)
    return Message(Kind.QUESTION, "", _without_greeting(text, language))


def is_small_talk(text: str, language: str = "") -> bool:
    """Return whether a message contains nothing to search for."""
    return read(text, language).kind is not Kind.QUESTION


@cache
def _languages(first: str) -> tuple[str, ...]:
    able = [code for code, one in languages().items() if one.courtesies.greeting]
    return tuple(sorted(able, key=lambda code: code != first))


def _consumed(text: str, language: str) -> tuple[list[Kind], str]:
    """Return the kinds of the phrases at the start of a text, and the remaining text."""
    kinds: list[Kind] = []
    at = _gap(text, 0)
    while at < len(text):
        end, kind = _longest(text, at, language, _ORDER)
        if kind is None:
            return kinds, text[at:]
        kinds.append(kind)
        at = _gap(text, end)
    return kinds, ""


def _without_greeting(text: str, language: str) -> str:
    """Remove leading courtesy phrases from a text, if a pause follows them."""
    start = 0
    for tried in _languages(language):
        at, greeted = _gap(text, 0), False
        while at < len(text):
            end, kind = _longest(text, at, tried, _CUT)
            if kind is None:
                break
            paused = bool(re.match(r"\s*[,.!?;:…、。！？，；：\n]|\s+-", text[end:]))
            greeted = greeted or (kind is Kind.GREETING and known(tried).writing.spaces)
            if not (paused or greeted):
                break
            at = start = _gap(text, end)
        if start:
            break
    return text[start:] if 0 < start < len(text) else text


def _longest(text: str, at: int, language: str, kinds: tuple[Kind, ...]) -> tuple[int, Kind | None]:
    found = [(match.end(), kind) for kind in kinds if (match := _compiled(kind, language).match(text, at))]
    return max(found, key=lambda one: (one[0], _ORDER.index(one[1]))) if found else (at, None)


def _gap(text: str, at: int) -> int:
    """Return the position at which the next word begins."""
    match = _GAP.match(text, at)
    return match.end() if match else at


@cache
def _compiled(kind: Kind, language: str) -> re.Pattern[str]:
    phrases: str = getattr(known(language).courtesies, kind, "") or "(?!)"
    source = phrases.replace("[- ]", r"[-\s]").replace(" ?", r"[\s,]*")
    source = re.sub(r" (?!\?)", r"[\\s,]+", source).replace("'", "['’´` ]?")
    end = r"(?!\w)" if known(language).writing.spaces else ""
    return compiled(f"(?:{source}){end}")
