"""Whether a question leans on what was said before it,.

Three ways of leaning: a word points back ("how do I undo that?"), the question goes on where the one before
ended ("and on Windows?"), or it corrects it ("no, I meant the other one").
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled, every_pattern
from server.languages.scripts import UNSPACED


class Leaning(StrEnum):
    """How a question needs the one before."""

    NOT = "not"
    POINTS = "points"
    GOES_ON = "goes on"
    CORRECTS = "corrects"


LONGEST = 300
"""Characters beyond which a text is taken to tell all that is needed."""
BARE = 1
"""A question of so few content words hardly says anything by itself."""
POINTING, GOING_ON, CORRECTING = 7, 8, 10
"""A longer one tells enough although it points back, goes on or corrects."""

INSIDE, INSIDE_AT_END = 2, 3
"""With more content words before it, "it" means one of those; at the end of a question, with still more."""

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
"""Writing without spaces: how many characters make up a word, about; hiragana is mostly grammar."""
_LEAD = compiled(rf"^\W*({alternatives(lambda one: one.follow_ups.no)})(?=[\s,，、.])[\s,，、.]*")


@lru_cache(maxsize=1000)
def leaning(text: str, language: str = "") -> Leaning:
    """How `text` leans on the question before; NOT for one that can be understood alone."""
    if len(text) > LONGEST:
        return Leaning.NOT
    size = content_size(text, language)
    for kind, longest, pattern in _PATTERNS:
        found = pattern.search(text) if size <= longest else None
        if found and (kind is not Leaning.POINTS or _points_out(text, found, language)):
            return kind
    return Leaning.GOES_ON if size <= BARE else Leaning.NOT


def _points_out(text: str, found: re.Match[str], language: str) -> bool:
    """Whether a pointing word means something outside its sentence: little before it could be meant."""
    before = content_size(text[: found.start()], language)
    ends = not text[found.end() :].strip(" ?!.。？！")
    return before <= (INSIDE_AT_END if ends else INSIDE)


@lru_cache(maxsize=1000)
def content_size(text: str, language: str = "") -> float:
    """About how many words carry meaning; where no spaces tell, so many as the characters may make up."""
    written = sum(len(pattern.findall(text)) / size for pattern, size in _MEANING)
    spaced = [token for token in tokens(text, language) if not _UNSPACED.match(token)]
    return len(spaced) + written


def replaced(text: str) -> tuple[str, str]:
    """(what a correction takes back, what it puts in its place); ("", text) when it takes nothing back."""
    said = _LEAD.sub("", text)
    for pattern in _REPLACED:
        found = pattern.search(said)
        if found:
            return found["no"].strip(), found["yes"].strip()
    return "", said
