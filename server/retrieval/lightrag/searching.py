"""From keywords to entities and relations: by the things a question names, by its themes, or by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from server.retrieval.lightrag.choosing import in_turn, within
from server.retrieval.lightrag.graph import ENTITIES, RELATIONS, Graph
from server.retrieval.lightrag.keywords import Keywords
from server.retrieval.lightrag.options import LightRagOptions

Scored = Mapping[int, float]
"""Number -> how near it is to the question, in the order that matters."""
Near = Callable[[str, str], Scored]
"""Kind and text -> the records of that kind that are near, best first, with their cosines."""


@dataclass(frozen=True)
class Found:
    """Entities and relations, those first that the question leads to first."""

    entities: Scored = field(default_factory=dict)
    relations: Scored = field(default_factory=dict)


def search(graph: Graph, keywords: Keywords, question: str, mode: str, near: Near) -> Found:
    """For the modes local and global; any other takes both."""
    low, high = Found(), Found()
    if mode != "global":
        low = by_entities(graph, near(ENTITIES, keywords.low_text(question)))
    if mode != "local":
        high = by_relations(graph, near(RELATIONS, keywords.high_text(question)))
    return Found(_both(low.entities, high.entities), _both(low.relations, high.relations))


def by_entities(graph: Graph, entities: Scored) -> Found:
    """Their relations too: those of well-connected ends first, then by weight. A relation is as near as its
    two ends are on average."""
    around = dict.fromkeys(relation for n in entities for relation in graph.relations_of[n])
    ordered = sorted(around, key=graph.rank.__getitem__)
    return Found(entities, {n: sum(entities.get(end, 0.0) for end in graph.ends[n]) / 2 for n in ordered})


def by_relations(graph: Graph, relations: Scored) -> Found:
    """Their ends too. An end is as near as the nearest of its relations."""
    ends: dict[int, float] = {}
    for n, near in relations.items():
        for end in graph.ends[n]:
            ends[end] = max(near, ends.get(end, near))
    return Found(ends, relations)


def cut(graph: Graph, found: Found, options: LightRagOptions, tokens: Callable[[str], int]) -> Found:
    """What fits the token budgets."""
    entities = within(list(found.entities), lambda n: tokens(graph.told_entity(n)), options.entity_tokens)
    relations = within(
        list(found.relations), lambda n: tokens(graph.told_relation(n)), options.relation_tokens
    )
    return Found({n: found.entities[n] for n in entities}, {n: found.relations[n] for n in relations})


def _both(one: Scored, other: Scored) -> Scored:
    return {n: max(one.get(n, 0.0), other.get(n, 0.0)) for n in in_turn(list(one), list(other))}
