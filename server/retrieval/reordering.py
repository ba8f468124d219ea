"""Reorders what was found by what else is in it: chunks of one page support each other, copies make room.

Copies are found by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with one change: only
texts that are nearly the same count as similar. Diversifying facts would push down passages that support each
other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from server.domain.chunk import ScoredChunk
from server.retrieval.parts import ranked

OTHERS = 4
"""Chunks of a page that support another; each counts half of the one before."""
MOST_SUPPORT = 1 - 0.5**OTHERS
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
    whole = 1 + share * 2 * MOST_SUPPORT
    moved = [hit.rescored((hit.score + share * support[hit.chunk.url]) / whole) for hit in hits]
    return ranked(moved, len(moved))


COPY = 0.8
"""Texts that share so much of their words are taken for copies."""
COMPARED = 30
"""Only so many of the best are compared with each other."""


def diversified(hits: Sequence[ScoredChunk], balance: float) -> list[ScoredChunk]:
    """Best first again. `balance` is MMR's lambda: at 1 nothing changes, lower puts copies further back."""
    if balance >= 1:
        return list(hits)
    kept: list[ScoredChunk] = []
    for hit in hits[:COMPARED]:
        nearest = max((_likeness(hit.chunk.text, other.chunk.text) for other in kept), default=0.0)
        lost = (1 - balance) * nearest if nearest >= COPY else 0.0
        kept.append(hit.rescored(max(0.0, hit.score - lost)) if lost else hit)
    return ranked([*kept, *hits[COMPARED:]], len(hits))


def _likeness(one: str, other: str) -> float:
    """Jaccard's index of the texts' pieces of five characters."""
    first, second = _pieces(one), _pieces(other)
    shorter, longer = sorted((len(first), len(second)))
    if not longer or shorter < COPY * longer:
        return 0.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


@lru_cache(maxsize=2_000)
def _pieces(text: str) -> frozenset[str]:
    folded = " ".join(text.casefold().split())
    return frozenset(folded[at : at + 5] for at in range(max(1, len(folded) - 4)))
