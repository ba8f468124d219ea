"""From keywords to entities and relations: by the things a question names, by its themes, or by both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.retrieval.lightrag.choosing import in_turn, within
from server.retrieval.lightrag.graph import Graph
from server.retrieval.lightrag.keywords import Keywords
from server.retrieval.lightrag.options import LightRagOptions

Near = Callable[[str, str], list[tuple[int, float]]]
"""Kind and text -> the numbers of its records that are near, with their cosines, best first."""


@dataclass(frozen=True)
class Found:
    """Entities and relations by number, those first that the question is taken to first."""

    entities: Sequence[int] = ()
    relations: Sequence[int] = ()


def search(graph: Graph, keywords: Keywords, question: str, mode: str, near: Near) -> Found:
    """For the modes local and global; any other takes both."""
    low, high = Found(), Found()
    if mode != "global":
        low = by_entities(graph, keywords.low_text(question), near)
    if mode != "local":
        high = by_relations(graph, keywords.high_text(question), near)
    return Found(in_turn(low.entities, high.entities), in_turn(low.relations, high.relations))


def by_entities(graph: Graph, text: str, near: Near) -> Found:
    """Entities near the text, and their relations: those of well-connected ends first, then by weight."""
    entities = [n for n, _ in near("entities", text)]
    found = dict.fromkeys(relation for n in entities for relation in graph.relations_of(n))
    return Found(entities, sorted(found, key=graph.rank, reverse=True))


def by_relations(graph: Graph, text: str, near: Near) -> Found:
    """Relations near the text, and their ends."""
    relations = [n for n, _ in near("relations", text)]
    ends = dict.fromkeys(int(end) for n in relations for end in graph.ends[n])
    return Found(list(ends), relations)


def cut(graph: Graph, found: Found, options: LightRagOptions, tokens: Callable[[str], int]) -> Found:
    """What fits the token budgets."""
    entities = within(found.entities, lambda n: tokens(graph.told_entity(n)), options.entity_tokens)
    relations = within(found.relations, lambda n: tokens(graph.told_relation(n)), options.relation_tokens)
    return Found(entities, relations)
