"""Classifies a visitor's message by its words: small talk, a mood or wish, or a question about the site.

A courtesy counts only if the message contains nothing else: "Hello, how do I return a lamp?" is a question.
Its greeting is removed so that it is not searched. A wish for a person, a complaint, an insult or an
emergency is recognised anywhere in a message, except behind the beginning of a question ("how do I complain
about noise"). A question in the same message comes first, unless the visitor wants a person or is in danger.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise

from server.indexes.tokens import tokens
from server.languages.loader import compiled, languages
from server.languages.loader import language as known
from server.languages.sections import Courtesies, Moods


class Kind(StrEnum):
    """Kinds of messages, in ascending priority for a message that combines several."""

    FILLER = "filler"
    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    PRAISE = "praise"
    IDENTITY = "identity"
    OVERVIEW = "overview"
    GIBBERISH = "gibberish"
    COMPLAINT_ANSWER = "complaint_answer"
    COMPLAINT_SERVICE = "complaint_service"
    INSULT = "insult"
    PERSON = "person"
    EMERGENCY = "emergency"
    QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Message:
    """A classified message."""

    kind: Kind
    language: str
    """Language of the recognised phrases; empty for a question."""
    text: str
    """The message; for a question and a wish for a person, without its greeting and its moods."""


LONGEST = 120
"""Messages with more characters are never only small talk."""
LONGEST_MOOD = 1000
"""Longer messages are not searched for moods."""
_ORDER = tuple(Kind)
_COURTESIES = tuple(kind for kind in Kind if kind in Courtesies.model_fields)
_MOODS = {name: Kind(name) for name in Moods.model_fields if name not in ("asked", "anger")}
_MOODS["anger"] = Kind.COMPLAINT_SERVICE
_FIRST = (Kind.PERSON, Kind.EMERGENCY)
"""Moods that come before a question in the same message."""
_GAP = re.compile(r"[^\w\u0300-\u036f]+|_+")
_BREAK = re.compile(r"[,.!?;…、。！，；？؟،\n]")
_CLAUSE = re.compile(r"[^,.!?;:…、。！，；：？؟،\n]+[?？؟]?|[?？؟]")
_CUT = (Kind.GREETING, Kind.FILLER, Kind.WELLBEING, Kind.THANKS)
_KEYS = (
    "qwertyuiop",
    "qwertzuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "йцукенгшщзхъ",
    "фывапролджэ",
    "ячсмитьбю",
)
_NEXT_KEYS = frozenset(pair for row in _KEYS for one, two in pairwise(row) for pair in (one + two, two + one))
_LETTERS = re.compile(r"[a-zß-ÿа-ёʼ]+")
_VOWEL = re.compile("[aeiouyà-öø-ÿаеёиоуыэюя]")
_WISH = 10
"""A clause of fewer characters, such as "operator", may end any sentence."""
_MASHED = 6
"""Shorter words may be abbreviations."""


@lru_cache(maxsize=1000)
def read(text: str, language: str = "") -> Message:
    """Classify any text. `language` is tried first, because "hallo" exists in several languages."""
    text = text.strip()
    if not any(char.isalnum() for char in text):
        return Message(Kind.GREETING, "", text)  # an emoji or "???": the greeting's suggestions help
    courteous = len(text) <= LONGEST and _opens_courteously(text)
    message = (_small_talk(text, language) if courteous else None) or _mood_of(text, language)
    if message:
        return message
    if all(map(_is_mashed, text.split())):
        return Message(Kind.GIBBERISH, "", text)
    return Message(Kind.QUESTION, "", _without_greeting(text, language))


def is_small_talk(text: str, language: str = "") -> bool:
    """Return whether a message contains nothing to search for. What looks like gibberish may be a name."""
    return read(text, language).kind not in (Kind.QUESTION, Kind.GIBBERISH)


@cache
def _languages(first: str) -> tuple[str, ...]:
    able = [code for code, one in languages().items() if one.courtesies.greeting]
    return tuple(sorted(able, key=lambda code: code != first))


def _small_talk(text: str, language: str) -> Message | None:
    for tried in _languages(language):
        kinds, rest = _consumed(text, tried)
        if not rest and any(kind is not Kind.FILLER for kind in kinds):
            kind = max(kinds, key=_ORDER.index)
            return Message(kind, tried, "" if kind is Kind.PERSON else text)
    return None


@lru_cache(maxsize=1000)
def _opens_courteously(text: str) -> bool:
    """Return whether a text begins with a courtesy in any language: most questions do not."""
    at = _gap(text, 0)
    return any(_courtesy(kind, code).match(text, at) for code in _languages("") for kind in _COURTESIES)


def _mood_of(text: str, language: str) -> Message | None:
    if len(text) > LONGEST_MOOD:
        return None
    for tried in _languages(language):
        if text.isascii() and known(tried).writing.script:
            continue
        kind, rest = _mood(text, tried)
        if kind is Kind.QUESTION:
            return Message(kind, "", _without_greeting(rest, language))
        if kind:
            return Message(kind, tried, rest if kind is Kind.PERSON else text)
    return None


def _consumed(text: str, language: str) -> tuple[list[Kind], str]:
    """Return the kinds of the phrases at the start of a text, and the remaining text."""
    kinds: list[Kind] = []
    at = _gap(text, 0)
    while at < len(text):
        end, kind = _longest(text, at, language, _COURTESIES)
        if kind is None:
            return kinds, text[at:]
        kinds.append(kind)
        at = _gap(text, end)
    return kinds, ""


def _mood(text: str, language: str) -> tuple[Kind | None, str]:
    """Return (the strongest mood in a text, if any; the text without the words of moods). If the text asks
    something too, the mood is QUESTION; what went wrong is kept, because the question may be about it."""
    kinds: set[Kind] = set()
    rest = text
    for name, kind in _MOODS.items():
        for start, end in _moods_found(text, name, language):
            kinds.add(kind)
            if name != Kind.COMPLAINT_SERVICE:
                rest = rest[:start] + "\n" * (end - start) + rest[end:]
    if not kinds and (told := _before_a_wish(text, language)):
        return Kind.PERSON, told
    strongest = max(kinds, key=_ORDER.index, default=None)
    left = " ".join(filter(None, (part.strip(" ,.;:!") for part in rest.split("\n"))))
    if strongest and strongest not in _FIRST and _asks(rest, language):
        return Kind.QUESTION, left
    return strongest, left


def _moods_found(text: str, name: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a mood's phrases that are not part of a question."""
    asked = _anywhere("asked", language)
    for match in _anywhere(name, language).finditer(text):
        before = _BREAK.split(text[: match.start()])[-1]
        if not asked.search(before.lstrip()):
            yield match.span()


def _before_a_wish(text: str, language: str) -> str:
    """Return what a text tells before it asks for a person, as in "I'm stuck, who can I write to?"; empty if
    it does not."""
    *told, wish = _CLAUSE.findall(text) or [""]
    if not _opens_courteously(wish):
        return ""
    kinds, left = _consumed(wish, language)
    before = ".".join(told)
    wishes = not left and Kind.PERSON in kinds and len(wish.strip()) >= _WISH
    return before if wishes and not _asks(before, language) else ""


def _asks(text: str, language: str) -> bool:
    """Return whether a clause of the text asks for something to search."""
    asked = _anywhere("asked", language)
    starts = asked.match if known(language).writing.spaces else asked.search
    for match in _CLAUSE.finditer(text):
        clause = match.group().strip()
        if not (starts(clause) or clause.endswith(("?", "？", "؟"))):
            continue
        kinds, left = _consumed(clause, language)
        # "What can I do?" asks something only after the words that say what about.
        matter = text if left else text.replace(clause, "") if Kind.OVERVIEW in kinds else ""
        if tokens(matter, language):
            return True
    return False


def _is_mashed(word: str) -> bool:
    """Return whether a word looks like keys hit at random: neighbouring keys, one key, or hardly a vowel."""
    word = word.casefold().strip("!?.,")
    if len(word) < _MASHED or not _LETTERS.fullmatch(word):
        return False
    near = sum(pair in _NEXT_KEYS or pair[0] == pair[1] for pair in map("".join, pairwise(word)))
    return near >= 0.7 * (len(word) - 1) or len(_VOWEL.findall(word)) < 0.15 * len(word)


def _without_greeting(text: str, language: str) -> str:
    """Remove leading courtesy phrases from a text, if a pause follows them."""
    start = 0
    for tried in _languages(language) if _opens_courteously(text) else ():
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
    found = [(match.end(), kind) for kind in kinds if (match := _courtesy(kind, language).match(text, at))]
    return max(found, key=lambda one: (one[0], _ORDER.index(one[1]))) if found else (at, None)


def _gap(text: str, at: int) -> int:
    """Return the position at which the next word begins."""
    match = _GAP.match(text, at)
    return match.end() if match else at


@cache
def _courtesy(kind: Kind, language: str) -> re.Pattern[str]:
    end = r"(?!\w)" if known(language).writing.spaces else ""
    return compiled(f"(?:{_spaced(getattr(known(language).courtesies, kind))}){end}")


@cache
def _anywhere(name: str, language: str) -> re.Pattern[str]:
    """Return a pattern of `Moods` as whole words, in languages whose words have no attached particles."""
    writing = known(language).writing
    start, end = (r"(?<!\w)", r"(?!\w)") if writing.spaces and not writing.endings else ("", "")
    return compiled(f"{start}(?:{_spaced(getattr(known(language).moods, name))}){end}")


def _spaced(phrases: str) -> str:
    """Return a pattern whose spaces match commas too, and whose apostrophes may be missing."""
    source = (phrases or "(?!)").replace("[- ]", r"[-\s]").replace(" ?", r"[\s,]*")
    return re.sub(r" (?!\?)", r"[\\s,]+", source).replace("'", "['’´` ]?")
