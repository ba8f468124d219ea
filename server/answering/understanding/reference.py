"""Detects follow-up questions, which cannot be understood without the previous question.

There are three kinds: a word refers back ("how do I undo that?"), the question continues the previous one
("and on Windows?"), or it corrects it ("no, I meant the other one").
"""

import re
from enum import StrEnum
from functools import lru_cache

from server.indexes.tokens import tokens
from server.languages.loader import alternatives, compiled, every_pattern
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
