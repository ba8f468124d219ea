"""Suggests follow-up questions that the site can answer, from headings near the answer.

Clicking a suggestion searches its text, so the text must find its own chunk: it is a heading of that chunk,
has more than one content word, and there is enough text below it.
"""

import re
from collections.abc import Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.sentences import plain_heading, plain_title
from server.indexes.tokens import tokens

LIMIT = 3
LONGEST = 70
NEAR = 0.35
"""A chunk is related if it has at least this share of the best score."""
SAME = 0.7
"""Share of common words from which two headings count as the same question."""
ENOUGH_TEXT = 60
_CODE = re.compile(r"[\[\]{}|<>=;]")


def next_questions(
    retrieved: Sequence[ScoredChunk], used: frozenset[str], query: str, history: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return headings of retrieved chunks that the answer did not use, each once, best first.

    `used` are the ids of cited chunks. Headings that repeat the query, an earlier one or a used heading are
    left out.
    """
    best = max((hit.score for hit in retrieved), default=0.0)
    known = [_words(text, "") for text in (query, *history)]
    known += [_words(heading_of(hit.chunk), hit.chunk.language) for hit in retrieved if hit.chunk.id in used]
    found: list[str] = []
    for hit in retrieved:
        heading = heading_of(hit.chunk)
        words = _words(heading, hit.chunk.language)
        if hit.chunk.id in used or hit.score < NEAR * best or not _is_answered(heading, words, hit.chunk):
            continue
        if not any(_same(words, other) for other in known):
            known.append(words)
            found.append(heading)
    return tuple(found)[:LIMIT]


def heading_of(chunk: Chunk) -> str:
    """Return the chunk's heading without its number. A heading of one word gets the heading above it."""
    path = [plain_heading(part) for part in chunk.heading_path] or [plain_title(chunk.title)]
    heading = path[-1]
    if len(tokens(heading, chunk.language)) <= 1 or (heading.isascii() and " " not in heading):
        above = [part for part in (*path[:-1][-1:], plain_title(chunk.title)) if part and part != heading]
        heading = f"{above[0]}: {heading}" if above else heading
    return heading


def _is_answered(heading: str, words: frozenset[str], chunk: Chunk) -> bool:
    sayable = 3 < len(heading) <= LONGEST and not _CODE.search(heading)
    return sayable and len(words) > 1 and len(chunk.text) >= ENOUGH_TEXT


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return bool(one) and (one <= other or common / len(one | other) >= SAME)


def _words(text: str, language: str) -> frozenset[str]:
    return frozenset(tokens(text, language))
