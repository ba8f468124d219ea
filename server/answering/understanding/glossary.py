"""Looks up common words of customer service and technology in the table `[glossary]` of the language files.

Each key of the table is a concept. It has an English name, which is the same in every file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from server.languages.loader import language as known
from server.languages.loader import languages as all_known
from server.languages.scripts import fold
from server.languages.stems import stem, without_article
from server.languages.stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
LONGEST_PHRASE = 4
"""Length of the longest phrase that is looked up, in words."""
LONGEST_COMPOUND = 40
SHORTEST_FIRST, PART_OF_COMPOUND = 3, 4
"""Length in characters of the shortest parts that a compound is split into: the first and the last one."""
LONE_PART = 5
"""Length of the shortest last part that is looked up although what stands before it is not known."""


@dataclass(frozen=True, slots=True)
class Found:
    """A word of a text that is in the glossary."""

    start: int
    end: int
    concepts: tuple[str, ...]
    """The concepts that the word may mean."""


@cache
def languages() -> frozenset[str]:
    """Return the languages that have a glossary."""
    return frozenset(code for code, one in all_known().items() if one.glossary)


def words(concept: str, language: str) -> tuple[str, ...]:
    """Return a language's words for a concept."""
    return known(language).glossary.get(concept, ())


def look_up(text: str, language: str) -> list[Found]:
    """Return the known words and phrases of `text`, the longest at each position, without overlaps."""
    if language not in languages():
        return []
    return _scan(text.lower(), language) if _is_scanned(language) else _read(text, language)


def _is_scanned(language: str) -> bool:
    """Return whether words are looked up at any position in a run of characters."""
    writing = known(language).writing
    return writing.endings or not writing.spaces


@cache
def _entries(language: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return concepts by the stems of each phrase, or by the phrase itself in scripts without spaces."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for concept, row in known(language).glossary.items():
        for phrase in row:
            key = (phrase.lower(),) if _is_scanned(language) else _stems(phrase, language)
            if not key:
                continue
            found.setdefault(key, {})[concept] = None
    return {key: tuple(concepts) for key, concepts in found.items()}


def _stems(phrase: str, language: str) -> tuple[str, ...]:
    """Return the stems of a phrase. Function words become "", which keeps their place in the phrase."""
    stems = _each_stem([match.group().lower() for match in _WORD.finditer(phrase)], language)
    return tuple(stems[next((place for place, one in enumerate(stems) if one), len(stems)) :])


def _each_stem(lowered: Sequence[str], language: str) -> list[str]:
    """Return the stem of each word, "" for function words."""
    stops = STOP_WORDS.get(language, frozenset())
    # The stemmer knows "l'hôtel", but not "l’hôtel", and the article only of Arabic words without signs.
    plain = [fold(word) if language == "ar" else word.replace("’", "'") for word in lowered]
    return ["" if word in stops else stem(without_article(word, language), language) for word in plain]


def _scan(text: str, language: str) -> list[Found]:
    entries, found, at = _entries(language), [], 0
    longest = max(len(key[0]) for key in entries)
    while at < len(text):
        for size in range(min(longest, len(text) - at), 0, -1):
            concepts = entries.get((text[at : at + size],))
            if concepts:
                found.append(Found(at, at + size, concepts))
                at += size - 1
                break
        at += 1
    return found


def _read(text: str, language: str) -> list[Found]:
    entries, found, place = _entries(language), [], 0
    joins = known(language).writing.joints
    matches = list(_WORD.finditer(text))
    lowered = [match.group().lower() for match in matches]
    stems = _each_stem(lowered, language)
    while place < len(matches):
        size, concepts = _longest(stems, place, entries)
        if concepts:
            found.append(Found(matches[place].start(), matches[place + size - 1].end(), concepts))
        elif joins and stems[place] and len(lowered[place]) <= LONGEST_COMPOUND:
            found += _parts(matches[place], language, entries)
        place += size
    return found


def _longest(
    stems: Sequence[str], place: int, entries: dict[tuple[str, ...], tuple[str, ...]]
) -> tuple[int, tuple[str, ...]]:
    for size in range(min(LONGEST_PHRASE, len(stems) - place), 0, -1):
        concepts = entries.get(tuple(stems[place : place + size])) if stems[place] else None
        if concepts:
            return size, concepts
    return 1, ()


def _parts(
    word: re.Match[str], language: str, entries: dict[tuple[str, ...], tuple[str, ...]]
) -> list[Found]:
    """Return the known parts of a compound: the last one, which has the main meaning, and the one before
    it, with or without the letters that join them. A short last part alone may be there by chance."""
    text, start, lone = word.group().lower(), word.start(), list[Found]()
    for cut in range(SHORTEST_FIRST, len(text) - PART_OF_COMPOUND + 1):
        concepts = entries.get((stem(text[cut:], language),))
        if not concepts:
            continue
        last = Found(start + cut, word.end(), concepts)
        for joint in ("", *known(language).writing.joints):
            first = text[:cut].removesuffix(joint)
            if len(first) >= SHORTEST_FIRST and (before := entries.get((stem(first, language),))):
                return [Found(start, start + cut, before), last]
        if not lone and len(text) - cut >= LONE_PART:
            lone = [last]
    return lone
