"""The text of a page, put together from its chunks, and whether words that were quoted stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from server.domain.chunk import Chunk

LEAST_REPEATED, MOST_REPEATED = 8, 1000
"""Characters at the end of a chunk that the next one may begin with: sentences, not a single word."""
_MARKER = re.compile(r"^ *(?:-|\d+\.) ", re.M)
_FENCE = re.compile(r"^```$", re.M)


def joined_text(chunks: Sequence[Chunk]) -> str:
    """The text of chunks that follow each other on a page, without what they repeat of one another."""
    text, before = "", None
    for chunk in chunks:
        if before is None:
            text = chunk.text
        else:
            repeated = _repeated(before, chunk)
            text += chunk.text[repeated:] if repeated else "\n\n" + chunk.text
        before = chunk
    return text


def _repeated(before: Chunk, after: Chunk) -> int:
    """Characters at the end of a chunk that its successor in the section begins with."""
    if before.heading_path != after.heading_path:
        return 0
    end = len(before.text)
    opening = after.text[:LEAST_REPEATED]
    start = before.text.find(opening, max(0, end - MOST_REPEATED))
    while start >= 0:
        # What is repeated are whole sentences: they begin at the start or behind white space.
        if (not start or before.text[start - 1].isspace()) and after.text.startswith(before.text[start:]):
            return end - start
        start = before.text.find(opening, start + 1)
    return 0


class PageWords:
    """The words of a page, white space folded, in which quotes are looked for."""

    def __init__(self, text: str) -> None:
        """`text` in the line conventions of `crawler.page`."""
        self._as_written = _folded(text)
        # Quotes leave out the markers of lists and code.
        self._without_markers = _folded(_FENCE.sub("", _MARKER.sub("", text)))

    def hold(self, quote: str) -> bool:
        """Whether the quote stands there word for word."""
        wanted = _folded(quote)
        return bool(wanted) and (wanted in self._without_markers or wanted in self._as_written)


def _folded(text: str) -> str:
    return " ".join(text.split())
