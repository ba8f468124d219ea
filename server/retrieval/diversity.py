"""Lets copies make room: of near-duplicates the best stays, the others step back.

Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998) with one change: only texts that are nearly
the same count as similar. Diversifying facts would push down passages that support each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from server.domain.chunk import ScoredChunk
from server.retrieval.parts import ranked

COPY = 0.8
"""Texts that share so much of their words are taken for copies."""
DEPTH = 30
"""Only so many of the best are compared with each other."""


def diversified(hits: Sequence[ScoredChunk], balance: float) -> list[ScoredChunk]:
    """Best first again. `balance` is MMR's lambda: at 1 nothing changes, lower puts copies further back."""
    if balance >= 1:
        return list(hits)
    kept: list[ScoredChunk] = []
    for hit in hits[:DEPTH]:
        nearest = max((_likeness(hit.chunk.text, other.chunk.text) for other in kept), default=0.0)
        lost = (1 - balance) * nearest if nearest >= COPY else 0.0
        kept.append(replace(hit, score=max(0.0, hit.score - lost)) if lost else hit)
    return ranked([*kept, *hits[DEPTH:]], len(hits))


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
