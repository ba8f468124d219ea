"""Detects follow-up questions, which cannot be understood without the previous question.

There are three kinds: a word refers back ("how do I undo that?"), the question continues the previous one
("and on Windows?"), or it corrects it ("no, I meant the other one").
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from server.answering.understanding.question_words import names
from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled, every_pattern
from server.languages.loader import language as language_file
from server.languages.scripts import UNSPACED


class Leaning(StrEnum):
    """Ways in which a question depends on the previous one."""

    NOT = "not"
    POINTS = "points"
    GOES_ON = "goes on"
    CORRECTS = "corrects"


LONGEST = 300
"""Texts with more characters count as complete in themselves."""
BARE = 1
"""Questions with at most this many content words always depend on the previous one."""
POINTING, GOING_ON, CORRECTING = 7, 8, 10
"""Maximum content words of a question that refers back, continues or corrects. Longer ones are complete."""

INSIDE, INSIDE_AT_END = 2, 3
"""With more content words before it, "it" refers to one of them. The second limit is for a final "it"."""

_PATTERNS = (
    (Leaning.CORRECTS, CORRECTING, compiled(alternatives(lambda one: one.follow_ups.corrects))),
    (Leaning.GOES_ON, GOING_ON, compiled(alternatives(lambda one: one.follow_ups.goes_on))),
    (Leaning.POINTS, POINTING, compiled(alternatives(lambda one: one.follow_ups.points))),
)
_REPLACED = every_pattern(lambda one: one.follow_ups.replaced)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MEANING = (
    (re.compile(r"[\u3400-\u9fff]"), 2),
    (re.compile(r"[\uac00-\ud7a3]"), 3),
    (re.compile(r"[\u30a1-\u30fa]"), 4),
)
"""Approximate characters per word in scripts without spaces. Hiragana is left out, being mostly grammar."""
_PARTS = re.compile(r"[\w.+-]*\w")
_LEAD = compiled(rf"^\W*({alternatives(lambda one: one.follow_ups.no)})(?=[\s,，、.])[\s,，、.]*")


@lru_cache(maxsize=1000)
def leaning(text: str, language: str = "") -> Leaning:
    """Return how `text` depends on the previous question; NOT if it can be understood alone."""
    if len(text) > LONGEST:
        return Leaning.NOT
    size = content_size(text, language)
    for kind, longest, pattern in _PATTERNS:
        found = pattern.search(text) if size <= longest else None
        if found and (kind is not Leaning.POINTS or _refers_outside(text, found, language)):
            return kind
    return Leaning.GOES_ON if size <= BARE else Leaning.NOT


def _refers_outside(text: str, found: re.Match[str], language: str) -> bool:
    """Return whether a pointing word refers outside its sentence, because few words precede it."""
    before = content_size(text[: found.start()], language)
    ends = not text[found.end() :].strip(" ?!.。？！")
    return before <= (INSIDE_AT_END if ends else INSIDE)


@lru_cache(maxsize=1000)
def content_size(text: str, language: str = "") -> float:
    """Return the approximate number of content words, estimated from characters in scripts without spaces."""
    written = sum(len(pattern.findall(text)) / size for pattern, size in _MEANING)
    spaced = [token for token in tokens(text, language) if not _UNSPACED.match(token)]
    return len(spaced) + written


def replaced(text: str) -> tuple[str, str]:
    """Return (the withdrawn words, their replacement) of a correction; ("", text) if it withdraws none."""
    said = _LEAD.sub("", text)
    for pattern in _REPLACED:
        found = pattern.search(said)
        if found:
            return found["no"].strip(), found["yes"].strip()
    return "", said


def superseded(text: str, earlier: str, language: str) -> frozenset[str]:
    """Return the tokens of the earlier question in whose place a follow-up puts others: the day of a week in
    place of another, the only name in place of the only one, and what follows the same preposition, as in
    "and by train?" after "how do I get there by bus?"."""
    new, old = _things(text, language), _things(earlier, language)
    found: set[str] = set()
    if new.days:
        found |= old.days
    is_bare = not new.after and new.names.issuperset(tokens(text, language))
    if new.names and is_bare and len(old.runs) == 1:
        found |= old.names
    for preposition, things in new.after.items():
        for thing in things:
            found |= {other for other in old.after.get(preposition, ()) if _alike(thing, new, other, old)}
    return frozenset(found.difference(tokens(text, language)))


@dataclass(frozen=True, slots=True)
class _Things:
    """What a question is about, as tokens."""

    days: set[str]
    names: set[str]
    runs: list[str]
    """The names; those that follow each other are one."""
    after: dict[str, list[str]]
    """The tokens of the word after each preposition, and of the whole name if it is one."""


def _things(text: str, code: str) -> _Things:
    file = language_file(code)
    named = set(names(text, code))
    groups: list[tuple[bool, str]] = []
    for word in text.split():
        is_name = not named.isdisjoint(_PARTS.findall(word))
        if is_name and groups and groups[-1][0]:
            groups[-1] = True, f"{groups[-1][1]} {word}"
        else:
            groups.append((is_name, word))
    runs = [run for is_name, run in groups if is_name]
    after: dict[str, list[str]] = {}
    for (_, before), (_, following) in pairwise(groups):
        if before.lower() in file.follow_ups.prepositions:
            after.setdefault(before.lower(), []).extend(tokens(following, code))
    days = {token for day in file.card.days for token in tokens(day, code)}
    return _Things(days.intersection(tokens(text, code)), set(tokens(" ".join(runs), code)), runs, after)


def _alike(thing: str, new: _Things, other: str, old: _Things) -> bool:
    """Return whether both are names or neither is: "in Ohio" does not take the place of "in person"."""
    return (thing in new.names) == (other in old.names)
