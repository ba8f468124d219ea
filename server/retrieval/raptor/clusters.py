"""Clusters of nodes that a summary can be made of: global, local inside those, none too long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from server.retrieval.raptor.mixture import nearest_means
from server.retrieval.raptor.reduction import DIMENSIONS, Reduce, Vectors
from server.retrieval.raptor.soft import Members, soft_clusters

ENOUGH = DIMENSIONS + 1
"""So few nodes are one cluster."""
SHRINK = 0.8
"""Parts of a divided cluster are at most this share of it; otherwise it is cut in two."""
OVERLAP = 1.5
"""Parts together have at most so many times its nodes."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """How nodes are clustered; the same holds on every layer and for every cluster that is divided again."""

    reduce: Reduce
    threshold: float
    most_tokens: int
    seed: int
    watch: Callable[[int, int], None] = lambda done, total: None
    """Told how many global clusters are done, of how many."""

    def clusters(self, vectors: Vectors, lengths: Sequence[int]) -> list[list[int]]:
        """Places of the members of each, smallest place first; no two have the same members."""
        found: dict[tuple[int, ...], None] = {}
        wide = self._soft(np.arange(len(vectors)), vectors, whole=True)
        for done, members in enumerate(wide):
            self.watch(done, len(wide))
            for part in self._soft(members, vectors, whole=False):
                for fitting in self.divided(part, vectors, lengths):
                    found[tuple(int(place) for place in fitting)] = None
        return [list(members) for members in sorted(found)]

    def divided(self, members: Members, vectors: Vectors, lengths: Sequence[int]) -> list[Members]:
        """The cluster itself where it is short enough, otherwise parts of it that are."""
        return self._divided(members, lengths, lambda one: self._parts(one, vectors))

    def halved(self, vectors: Vectors, lengths: Sequence[int]) -> list[Members]:
        """All of these as parts that are short enough; no node in two of them."""
        return self._divided(np.arange(len(vectors)), lengths, lambda one: self._halves(one, vectors))

    def _divided(
        self, members: Members, lengths: Sequence[int], parts_of: Callable[[Members], list[Members]]
    ) -> list[Members]:
        """Ends always: each part has fewer members than what it is a part of."""
        waiting, done = [members], []
        while waiting:
            one = waiting.pop()
            if len(one) < 2 or sum(lengths[place] for place in one) <= self.most_tokens:
                done.append(one)
            else:
                waiting += parts_of(one)[::-1]
        return done

    def _parts(self, members: Members, vectors: Vectors) -> list[Members]:
        parts = self._soft(members, vectors, whole=False)
        largest, together = max(map(len, parts)), sum(map(len, parts))
        if largest > SHRINK * len(members) or together > OVERLAP * len(members):
            return self._halves(members, vectors)
        return parts

    def _soft(self, members: Members, vectors: Vectors, *, whole: bool) -> list[Members]:
        if len(members) <= ENOUGH:
            return [members]
        points = self.reduce(vectors[members], whole)
        return [members[part] for part in soft_clusters(points, self.threshold, self.seed)]

    def _halves(self, members: Members, vectors: Vectors) -> list[Members]:
        """Two parts by likeness; by order where all are alike."""
        side = nearest_means(vectors[members].astype(np.float64), 2, self.seed)
        if len(members) > 2 and 0 < side.sum() < len(members):
            return [members[side == 0], members[side == 1]]
        middle = len(members) // 2
        return [members[:middle], members[middle:]]
