"""Suggests follow-up questions that the site can answer, from headings near the answer.

Clicking a suggestion searches its text, so the text must find its own chunk: it is a heading of that chunk,
says what it is about without its page, no other page has the same one, and there is enough text below it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.sentences import plain_heading, plain_title
from server.indexes.tokens import tokens
from server.languages.loader import languages

LIMIT = 3
LONGEST = 70
NEAR = 0.35
"""A chunk is related if it has at least this share of the best score."""
SAME = 0.7
"""Share of common words from which two headings count as the same question."""
ENOUGH_TEXT = 60
BARE, SHORT = 2, 3
"""A heading with at most this many content words, and this many words, gets the heading above it."""
_GENERIC = frozenset(
    token
    for code, one in languages().items()
    for word in (*one.headings.nameless, *one.dates.months)
    for token in tokens(word, code)
)
"""Tokens of words that name nothing on the site, such as "overview", "step" and the months of dates."""
_SIGNS = re.compile(r"(?:[\s:：]+|(?<!\b\w)[*†‡]+)+$")
"""What stands behind headings without a meaning of its own, such as the sign of a footnote."""
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
    pages = {(hit.chunk.url, heading_of(hit.chunk)) for hit in retrieved}
    shared = Counter(heading for _, heading in pages)
    found: list[str] = []
    for hit in retrieved:
        heading = heading_of(hit.chunk)
        words = _words(heading, hit.chunk.language)
        if hit.chunk.id in used or hit.score < NEAR * best or not _is_answered(heading, words, hit.chunk):
            continue
        if shared[heading] == 1 and not any(_same(words, other) for other in known):
            known.append(words)
            found.append(heading)
    return tuple(found)[:LIMIT]


@lru_cache(maxsize=4_000)
def heading_of(chunk: Chunk) -> str:
    """Return the chunk's heading without its number. A short one that is no question gets the heading above
    it, and one that names nothing the page's title."""
    title = plain_title(chunk.title)
    path = [_SIGNS.sub("", plain_heading(part)) for part in chunk.heading_path] or [title]
    heading = path[-1]
    words = _words(heading, chunk.language)
    told = len(words - _GENERIC) > BARE or len(heading.split()) > SHORT
    if is_question(heading, chunk.language) or (told and names_something(heading, chunk.language)):
        return heading
    for above in (*path[:-1][-1:], _SIGNS.sub("", title)):
        added = _words(above, chunk.language)
        if names_something(above, chunk.language) and not added & words:
            return f"{above}: {heading}"
    return heading


def is_question(heading: str, language: str) -> bool:
    """Return whether a heading is a question that says what it is about."""
    asks = heading.endswith(("?", "？", "؟"))
    return asks and len(_words(heading, language)) > 1 and names_something(heading, language)


def names_something(text: str, language: str) -> bool:
    """Return whether a heading or title says what it is about: not "Overview", "Step 2" or "More"."""
    return any(not word.isdigit() for word in _words(text, language) - _GENERIC)


def _is_answered(heading: str, words: frozenset[str], chunk: Chunk) -> bool:
    sayable = 3 < len(heading) <= LONGEST and not _CODE.search(heading)
    told = len(words) > 1 and names_something(heading, chunk.language)
    return sayable and told and len(chunk.text) >= ENOUGH_TEXT


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return bool(one) and (one <= other or common / len(one | other) >= SAME)


@lru_cache(maxsize=8_000)
def _words(text: str, language: str) -> frozenset[str]:
    return frozenset(tokens(text, language))
