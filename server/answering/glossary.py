"""Common words of customer service and technology in ten languages, kept in glossary.tsv.

A column is a language, a row a concept; words of one concept are separated by "|". A new concept is a
new row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from server.indexes.stems import stem
from server.indexes.stopwords import STOP_WORDS

_FILE = Path(__file__).with_name("glossary.tsv")
_UNSPACED = frozenset({"zh", "ja", "ko"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
LONGEST_PHRASE = 4
"""Words of the longest phrase that is looked up."""
LONGEST_COMPOUND = 40
PART_OF_COMPOUND = 4
"""Characters of the shortest word that a German compound is taken apart into."""


@dataclass(frozen=True, slots=True)
class Found:
    """A word of a text that the glossary knows."""

    start: int
    end: int
    concepts: tuple[int, ...]
    """Rows that it stands in."""


def languages() -> frozenset[str]:
    """Those that have a column."""
    return frozenset(_columns())


def words(concept: int, language: str) -> tuple[str, ...]:
    """How a language calls a concept."""
    return _columns()[language][concept]


@cache
def vocabulary(language: str) -> frozenset[str]:
    """Every word of a language that means something, in lower case."""
    every = (word for row in _columns().get(language, ()) for phrase in row for word in _WORD.findall(phrase))
    return frozenset(word.lower() for word in every) - STOP_WORDS.get(language, frozenset())


@cache
def telling_words(language: str) -> frozenset[str]:
    """Those of its vocabulary that tell the language: what English has too may be a term of the trade."""
    return vocabulary(language) - (vocabulary("en") if language != "en" else frozenset())


def look_up(text: str, language: str) -> list[Found]:
    """The words and phrases of `text` that are known, longest first at each place; none overlap."""
    if language not in languages():
        return []
    return _scan(text.lower(), language) if language in _UNSPACED else _read(text, language)


@cache
def _columns() -> dict[str, list[tuple[str, ...]]]:
    head, *rows = _FILE.read_text(encoding="utf-8").splitlines()
    names = head.split("\t")
    cells = [[tuple(cell.split("|")) for cell in row.split("\t")] for row in rows]
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}


@cache
def _entries(language: str) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Concepts by the stems of each phrase; by the phrase itself where no spaces are written."""
    found: dict[tuple[str, ...], dict[int, None]] = {}
    for concept, row in enumerate(_columns()[language]):
        for phrase in row:
            key = (phrase.lower(),) if language in _UNSPACED else _stems(phrase, language)
            if not key:
                continue
            found.setdefault(key, {})[concept] = None
    return {key: tuple(concepts) for key, concepts in found.items()}


def _stems(phrase: str, language: str) -> tuple[str, ...]:
    """Function words stay empty: they bear no meaning of their own, but hold a phrase together."""
    stops = STOP_WORDS.get(language, frozenset())
    lowered = [match.group().lower() for match in _WORD.finditer(phrase)]
    stems = ["" if word in stops else stem(word, language) for word in lowered]
    return tuple(stems[next((place for place, one in enumerate(stems) if one), len(stems)) :])


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
    matches = list(_WORD.finditer(text))
    stops = STOP_WORDS.get(language, frozenset())
    lowered = [match.group().lower() for match in matches]
    stems = ["" if word in stops else stem(word, language) for word in lowered]
    while place < len(matches):
        size, concepts = _longest(stems, place, entries)
        if not concepts and language == "de" and stems[place] and len(lowered[place]) <= LONGEST_COMPOUND:
            concepts = _compound(lowered[place], entries)
        if concepts:
            found.append(Found(matches[place].start(), matches[place + size - 1].end(), concepts))
        place += size
    return found


def _longest(
    stems: Sequence[str], place: int, entries: dict[tuple[str, ...], tuple[int, ...]]
) -> tuple[int, tuple[int, ...]]:
    for size in range(min(LONGEST_PHRASE, len(stems) - place), 0, -1):
        concepts = entries.get(tuple(stems[place : place + size])) if stems[place] else None
        if concepts:
            return size, concepts
    return 1, ()


def _compound(word: str, entries: dict[tuple[str, ...], tuple[int, ...]]) -> tuple[int, ...]:
    """The concept of a German compound's last part, which says what it is."""
    for cut in range(3, len(word) - PART_OF_COMPOUND + 1):
        concepts = entries.get((stem(word[cut:], "de"),))
        if concepts:
            return concepts
    return ()
