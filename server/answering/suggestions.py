"""Next questions that the site can answer: headings near the answer, which are sure to be found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from server.domain.chunk import ScoredChunk

LIMIT = 3
LONGEST = 70


def next_questions(
    retrieved: Sequence[ScoredChunk], used: frozenset[str], query: str, history: Sequence[str] = ()
) -> tuple[str, ...]:
    """Headings of retrieved chunks that the answer did not use, each once, best first.

    `used` holds ids of cited chunks. A heading that repeats the query or an earlier one is left out,
    and so are titles that tell nothing alone ("Overview") unless their parent heading goes with them.
    """
    told = {_folded(text) for text in (query, *history)}
    told |= {_folded(_heading(hit)) for hit in retrieved if hit.chunk.id in used}
    found: dict[str, str] = {}
    for hit in retrieved:
        heading = _heading(hit)
        if hit.chunk.id not in used and 3 < len(heading) <= LONGEST and _folded(heading) not in told:
            found.setdefault(_folded(heading), heading)
    return tuple(found.values())[:LIMIT]


def _heading(hit: ScoredChunk) -> str:
    """The chunk's own heading without its number; the page's title for text above the first heading."""
    path = hit.chunk.heading_path
    heading = re.sub(r"^[\dA-Z]{0,3}(\.\d+)*\.?\s+(?=\S)", "", path[-1]) if path else hit.chunk.title
    if len(path) > 1 and len(heading.split()) == 1:
        heading = f"{path[-2]}: {heading}"
    return " ".join(heading.split())


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
