"""Communities of the graph at several levels, by hierarchical Leiden.

After Traag, Waltman and van Eck, "From Louvain to Leiden" (2019). The seed and the version of the library
that does it both change what comes out, so both are fixed. Parts of the graph that nothing joins to the rest
form communities of their own; GraphRAG leaves them out, but on a site they are themes too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import graspologic_native

from server.retrieval.graphrag.graph import SiteGraph

SEED = 0xDEADBEEF
RESOLUTION = 1.0
RANDOMNESS = 0.001
ITERATIONS = 1


@dataclass(slots=True)
class Community:
    """Entities that have more to do with each other than with the rest."""

    level: int
    """0 is the coarsest."""
    entities: tuple[int, ...]
    parent: int = -1
    """Place of the community that it is a part of."""
    children: list[int] = field(default_factory=list)
    relations: list[int] = field(default_factory=list)
    """Those with both ends inside, the heaviest first."""
    reach: int = 0
    """How many chunks say something of it."""


def communities(graph: SiteGraph, most: int) -> list[Community]:
    """Of all levels, the coarsest first, in an order that only depends on the graph. Those of more than
    `most` entities are divided again."""
    if not len(graph.ends):
        return []
    found = graspologic_native.hierarchical_leiden(
        _edges(graph),
        resolution=RESOLUTION,
        randomness=RANDOMNESS,
        iterations=ITERATIONS,
        use_modularity=True,
        max_cluster_size=most,
        seed=SEED,
    )
    members: dict[int, list[int]] = defaultdict(list)
    levels: dict[int, int] = {}
    parents: dict[int, int] = {}
    for one in found:
        members[one.cluster].append(int(one.node))
        levels[one.cluster] = one.level
        parents[one.cluster] = -1 if one.parent_cluster is None else one.parent_cluster
    made = _placed({key: tuple(sorted(nodes)) for key, nodes in members.items()}, levels, parents)
    _relate(made, graph)
    _count_chunks(made, graph)
    return made


def _edges(graph: SiteGraph) -> list[tuple[str, str, float]]:
    names = [str(at) for at in range(len(graph.entities))]
    weights = (graph.weights / graph.weights.max()).tolist()
    return [
        (names[one], names[other], weight)
        for (one, other), weight in zip(graph.ends.tolist(), weights, strict=True)
    ]


def _placed(
    members: dict[int, tuple[int, ...]], levels: dict[int, int], parents: dict[int, int]
) -> list[Community]:
    """One that is its parent undivided, or a single entity, is left out."""
    kept = [
        key
        for key in members
        if len(members[key]) > 1 and (parents[key] < 0 or len(members[key]) < len(members[parents[key]]))
    ]
    kept.sort(key=lambda key: (levels[key], members[key]))
    place = {key: at for at, key in enumerate(kept)}
    made = []
    for at, key in enumerate(kept):
        above = parents[key]
        while above >= 0 and above not in place:
            above = parents[above]
        made.append(Community(levels[key], members[key], place.get(above, -1)))
        if above >= 0:
            made[place[above]].children.append(at)
    return made


def _relate(made: list[Community], graph: SiteGraph) -> None:
    """Relations come by weight, so each community has its heaviest first."""
    of_level: dict[int, dict[int, int]] = defaultdict(dict)
    for at, community in enumerate(made):
        of_level[community.level].update(dict.fromkeys(community.entities, at))
    order = (-graph.weights).argsort(kind="stable").tolist()
    ends = graph.ends.tolist()
    for inside in of_level.values():
        for relation in order:
            one, other = ends[relation]
            at = inside.get(one, -1)
            if at >= 0 and at == inside.get(other):
                made[at].relations.append(relation)


def _count_chunks(made: list[Community], graph: SiteGraph) -> None:
    for community in made:
        chunks: set[int] = set()
        for entity in community.entities:
            chunks.update(graph.entities[entity].chunks)
        community.reach = len(chunks)
