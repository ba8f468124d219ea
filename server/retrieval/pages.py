"""What else a page has: one that is found by several chunks is likelier to be about the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from server.domain.chunk import ScoredChunk
from server.retrieval.parts import ranked

OTHERS = 4
"""Chunks of a page that support another; each counts half of the one before."""
MOST = 1 - 0.5**OTHERS
"""What they can add up to, twice."""


def supported(hits: Sequence[ScoredChunk], share: float) -> list[ScoredChunk]:
    """Best first again, scores in [0, 1]: with every chunk gets `share` of the page's other best chunks."""
    if not share:
        return list(hits)
    of_page: dict[str, list[float]] = defaultdict(list)
    for hit in hits:
        of_page[hit.chunk.url].append(hit.score)
    support: dict[str, float] = {}
    for url, scores in of_page.items():
        others = sorted(scores, reverse=True)[1 : 1 + OTHERS]
        support[url] = sum(score * 0.5**place for place, score in enumerate(others))
    whole = 1 + share * 2 * MOST
    moved = [replace(hit, score=(hit.score + share * support[hit.chunk.url]) / whole) for hit in hits]
    return ranked(moved, len(moved))
