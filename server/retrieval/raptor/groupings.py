"""Clusters of the last layer's nodes: made anew, or those of the state before with what changed since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

import numpy as np

from server.domain.derived import Record
from server.retrieval.derived.artefact import Artefact
from server.retrieval.raptor.clusters import ENOUGH, Clustering
from server.retrieval.raptor.forest import Forest, Group
from server.retrieval.raptor.options import KIND

DRIFT = 0.2
"""Once so large a share of the chunks is not the same any more, everything is clustered anew."""
LEAST = 200
"""Fewer chunks are always clustered anew: it takes a second, and is then as if made fresh."""
LIKE = 10
"""Percentile of the likeness of a cluster's chunks to its middle that a new one must reach to join."""


class FreshGrouping:
    """Clusters each layer's nodes as published. Implements Grouping."""

    def __init__(self, clustering: Clustering) -> None:
        self._clustering = clustering

    def layer(self, number: int, forest: Forest) -> list[Group]:
        """[] once so few nodes are left that more layers tell nothing, or none would be fewer."""
        frontier = forest.frontier
        if len(frontier) < 2 or (number > 1 and len(frontier) <= ENOUGH):
            return []
        lengths = [forest.nodes[node].tokens for node in frontier]
        found = self._clustering.clusters(forest.vectors[frontier], lengths)
        if len(found) >= len(frontier):
            return []
        made = [Group(tuple(frontier[place] for place in of)) for of in found if len(of) > 1]
        alone = {frontier[of[0]] for of in found if len(of) == 1} - {
            n for group in made for n in group.members
        }
        # A node that is like no other goes on to the next layer as it is.
        forest.frontier = [*sorted(alone), *range(len(forest.nodes), len(forest.nodes) + len(made))]
        return made


class KeptGrouping:
    """The clusters of the state before, without chunks that are gone, with new ones where they fit, and
    divided where they have become too long. Implements Grouping."""

    def __init__(self, before: Sequence[Record], clustering: Clustering) -> None:
        self._clustering = clustering
        self._of_layer: dict[int, list[Record]] = {}
        for record in before:
            self._of_layer.setdefault(cast(int, record.data["layer"]), []).append(record)
        self._now: dict[str, list[int]] = {}
        self.waiting: list[int] = []
        """New chunks that fit nowhere."""

    def layer(self, number: int, forest: Forest) -> list[Group]:
        """[] past the last layer of the state before."""
        kept = self._of_layer.get(number, [])
        if number == 1:
            self._now = {id: [leaf] for id, leaf in forest.number_of_leaf.items()}
        members = [self._members(record) for record in kept]
        if number == 1:
            self._join(members, forest)
        groups, following = [], len(forest.nodes)
        for record, of_record in zip(kept, members, strict=True):
            parts = self._parts(sorted(set(of_record)), forest)
            self._now[record.id] = list(range(following, following + len(parts)))
            following += len(parts)
            groups += [Group(part) for part in parts]
        return groups

    def _members(self, record: Record) -> list[int]:
        children = cast(Sequence[str], record.data["children"])
        return [now for child in children for now in self._now.get(child, [])]

    def _parts(self, members: Sequence[int], forest: Forest) -> list[tuple[int, ...]]:
        if not members:
            return []
        lengths = [forest.nodes[node].tokens for node in members]
        parts = self._clustering.divided(np.arange(len(members)), forest.vectors[list(members)], lengths)
        return [tuple(members[int(place)] for place in part) for part in parts]

    def _join(self, clusters: Sequence[list[int]], forest: Forest) -> None:
        """Puts chunks that no record before comes from into the nearest cluster that they are like."""
        old = {id for records in self._of_layer.values() for record in records for id in record.sources}
        new = [leaf for id, leaf in forest.number_of_leaf.items() if id not in old]
        living = [cluster for cluster in clusters if cluster]
        if not new or not living:
            self.waiting = new
            return
        centres = np.stack([forest.centre(cluster) for cluster in living])
        needed = [
            float(np.percentile(forest.vectors[cluster] @ centre, LIKE))
            for cluster, centre in zip(living, centres, strict=True)
        ]
        near = forest.vectors[new] @ centres.T
        for leaf, row in zip(new, near, strict=True):
            best = int(np.argmax(row))
            if row[best] >= needed[best]:
                living[best].append(leaf)
            else:
                self.waiting.append(leaf)


def keepable(before: Artefact | None, leaves: Collection[str]) -> Artefact | None:
    """The state before, if its clusters are still those of most chunks."""
    if before is None or len(leaves) < LEAST:
        return None
    clustered = set(cast(Sequence[str], before.facts.get("clustered", ())))
    changed = len(clustered ^ set(leaves))
    return before if before.records.get(KIND) and changed < DRIFT * len(clustered) else None
