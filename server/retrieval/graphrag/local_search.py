"""Local search: from the things that a question names to where the site speaks of them.

Entities that the question names, or that what was found for it names, lead to their chunks, to the relations
between them and to the reports on their communities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.languages.stop_words import STOP_WORDS
from server.retrieval.graph.phrases import phrase_key, phrases
from server.retrieval.graphrag.view import GraphView

MOST_ENTITIES = 10
MOST_RELATIONS = 10
"""Of the entities; those between two of them come first."""
OF_FOUND = 5
"""Best chunks of hybrid search whose entities count too,"""
FOUND_SHARE = 0.3
"""and how much they do beside those that the question names."""
NEIGHBOUR_SHARE = 0.3
"""Of its relevance that an entity gives to the other end of a relation."""
LEAST = 1.0
"""Evidence that counts in full: less says that the question names nothing rare."""
TEXT_SHARE, REPORT_SHARE = 0.5, 0.15
"""Of the token budget; entities and relations have the rest."""

Estimate = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Led:
    """Where the graph leads to."""

    entities: Mapping[int, float]
    """With their relevance, best first."""
    relations: Sequence[int]
    chunks: Mapping[str, float]
    """With their evidence, in [0, 1]."""


def entities_of(
    view: GraphView, query: Query, near: Sequence[tuple[int, float]], found: Sequence[ScoredChunk]
) -> dict[int, float]:
    """The best ones: those that the question names, those whose descriptions are `near`, and those of the
    chunks that hybrid search found first."""
    relevance: dict[int, float] = {}
    for entity in named_in(view, query):
        relevance[entity] = relevance.get(entity, 0.0) + 1.0
    for entity, cosine in near:
        relevance[entity] = relevance.get(entity, 0.0) + max(0.0, cosine)
    for hit in found[:OF_FOUND]:
        inside = view.entities_in.get(hit.chunk.id, [])
        for entity in inside:
            share = FOUND_SHARE * hit.score / math.sqrt(view.spread(entity))
            relevance[entity] = relevance.get(entity, 0.0) + share
    best = sorted(relevance, key=lambda one: (-relevance[one], one))[:MOST_ENTITIES]
    return {entity: relevance[entity] for entity in best}


def named_in(view: GraphView, query: Query) -> list[int]:
    """The entities whose names stand in the question, however they are written."""
    stops = STOP_WORDS.get(query.language, STOP_WORDS["en"])
    keys = [*view.names.found(query.text), *(phrase_key(one) for one in phrases(query.text, query.language))]
    known = dict.fromkeys(key for key in keys if key not in stops and key in view.named)
    return [view.named[key] for key in known]


def led_to(view: GraphView, entities: Mapping[int, float]) -> Led:
    """A chunk counts for each entity in it, the more the fewer chunks that one is in, and for the relations
    it tells of; what is related to the entities counts a little."""
    relations = _relations(view, entities)
    relevance = dict(entities)
    for relation in relations:
        one, other = (int(end) for end in view.ends[relation])
        for end, source in ((one, other), (other, one)):
            if end not in entities:
                share = NEIGHBOUR_SHARE * entities.get(source, 0.0)
                relevance[end] = max(relevance.get(end, 0.0), share)
    evidence: dict[str, float] = {}
    for entity, value in relevance.items():
        for id in view.chunks_of(entity):
            evidence[id] = evidence.get(id, 0.0) + value / math.sqrt(view.spread(entity))
    best = max(LEAST, max(evidence.values(), default=0.0))
    return Led(entities, relations, {id: value / best for id, value in evidence.items()})


def _relations(view: GraphView, entities: Mapping[int, float]) -> list[int]:
    """Those between two of the entities first, then by the relevance of their ends, and by weight."""
    known = dict.fromkeys(relation for entity in entities for relation in view.relations_of(entity))

    def order(relation: int) -> tuple[bool, float, float, int]:
        one, other = (int(end) for end in view.ends[relation])
        inside = one in entities and other in entities
        value = entities.get(one, 0.0) + entities.get(other, 0.0)
        return not inside, -value, -float(view.weights[relation]), relation

    return sorted(known, key=order)[:MOST_RELATIONS]


def reports_for(view: GraphView, entities: Mapping[int, float]) -> list[int]:
    """The smallest communities of the entities: those with most of them first, then by rating."""
    matched: dict[int, float] = {}
    for entity, value in entities.items():
        for report in view.reports_on.get(entity, [])[-1:]:
            matched[report] = matched.get(report, 0.0) + value
    return sorted(matched, key=lambda one: (-matched[one], -view.of(one, "rating"), one))


def contexts(
    view: GraphView, led: Led, hits: Sequence[ScoredChunk], tokens: int, estimate: Estimate
) -> list[str]:
    """What goes along with each chunk: entities and relations that it tells of, and the report on them, each
    once, under the budget."""
    table = int(tokens * (1 - TEXT_SHARE - REPORT_SHARE))
    room = int(tokens * REPORT_SHARE)
    rows = {("entity", one): row for one in led.entities if (row := _row(view, one))}
    rows |= {("relation", one): view.relations[one].text for one in led.relations if view.relations}
    reports = reports_for(view, led.entities)
    told = []
    for hit in hits:
        inside = set(view.entities_in.get(hit.chunk.id, []))
        lines = []
        for key in [key for key in rows if _tells(view, key, inside)]:
            if (table := table - estimate(rows[key])) < 0:
                break
            lines.append(rows.pop(key))
        report = next((one for one in reports if hit.chunk.id in view.reports[one].sources), None)
        if report is not None:
            reports.remove(report)
            if (cost := estimate(view.reports[report].text)) <= room:
                room -= cost
                lines.insert(0, view.reports[report].text)
        told.append("\n".join(lines))
    return told


def _row(view: GraphView, entity: int) -> str:
    name, _, description = view.entities[entity].text.partition("\n")
    return f"{name}: {description}" if description else ""


def _tells(view: GraphView, key: tuple[str, int], inside: set[int]) -> bool:
    kind, at = key
    return at in inside if kind == "entity" else {int(end) for end in view.ends[at]} <= inside
