"""Other ways to ask the same, searched beside the question: a wrapper around any retrieval strategy."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import zip_longest

from server.domain.chunk import ScoredChunk
from server.domain.protocols import Expander, Retriever
from server.domain.question import Query
from server.retrieval.parts import ranked

MOST = 3
"""Queries beside the original one."""
DEPTH = 10
"""Only so many hits of each further query count: deep ranks of several lists drown the good ones."""
STEP = 0.02
"""By so much of the best score each place of a woven ranking is lower than the one before."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """An expander with the say that its queries have."""

    expander: Expander
    share: float = 0.3
    """Share of their scores that is added to those of the question. 0 weaves the rankings instead: for
    queries that each ask for something else."""


class ExpandedStrategy:
    """Implements Retriever. The question itself is always searched; what the expanders make, at one time."""

    def __init__(self, strategy: Retriever, expansions: Sequence[Expansion]) -> None:
        self.name = strategy.name
        self._strategy = strategy
        self._expansions = expansions

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """As the strategy inside, where no expander has anything to add."""
        found = self._strategy.retrieve(query, limit)
        wanted = self._wanted(query, found)
        if not wanted:
            return found
        lists = self._searched([other for other, _ in wanted])
        woven = [hits for hits, (_, share) in zip(lists, wanted, strict=True) if not share]
        for hits, (_, share) in zip(lists, wanted, strict=True):
            if share:
                found = _added(found, hits, share)
        return _woven([found, *woven])[:limit] if woven else ranked(found, limit)

    def _wanted(self, query: Query, found: Sequence[ScoredChunk]) -> list[tuple[Query, float]]:
        known = {_folded(query.text)}
        wanted: list[tuple[Query, float]] = []
        for expansion in self._expansions:
            for other in expansion.expander.expand(query, found):
                if _folded(other.text) not in known:
                    known.add(_folded(other.text))
                    wanted.append((replace(other, previous=()), expansion.share))
        return wanted[:MOST]

    def _searched(self, queries: Sequence[Query]) -> list[list[ScoredChunk]]:
        if len(queries) == 1:
            return [self._strategy.retrieve(queries[0], DEPTH)]
        with ThreadPoolExecutor(len(queries)) as pool:
            return list(pool.map(lambda query: self._strategy.retrieve(query, DEPTH), queries))


def _added(found: Sequence[ScoredChunk], others: Sequence[ScoredChunk], share: float) -> list[ScoredChunk]:
    """`found` with a share of the others' scores, in [0, 1] again."""
    by_id = {hit.chunk.id: hit for hit in found}
    further = {hit.chunk.id: hit for hit in others}
    joined = []
    for key in by_id.keys() | further.keys():
        one, other = by_id.get(key), further.get(key)
        hit = one or other
        assert hit is not None
        score = (one.score if one else 0.0) + share * (other.score if other else 0.0)
        details = {**(other.scores if other else {}), **(one.scores if one else {})}
        if other:
            details["expanded"] = round(share * other.score, 4)
        joined.append(replace(hit, score=score / (1 + share), scores=details))
    return joined


def _woven(lists: Sequence[Sequence[ScoredChunk]]) -> list[ScoredChunk]:
    """The first of each list, then the second of each, each chunk once."""
    best = max((hits[0].score for hits in lists if hits), default=0.0)
    order = {hit.chunk.id: hit for row in reversed(list(zip_longest(*lists))) for hit in reversed(row) if hit}
    firsts = list(dict.fromkeys(hit.chunk.id for row in zip_longest(*lists) for hit in row if hit))
    return [replace(order[key], score=best * max(0.0, 1 - STEP * place)) for place, key in enumerate(firsts)]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
