"""The graph as records to search and arrays to walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from server.domain.derived import Record, record_id
from server.retrieval.derived.artefact import Array, Artefact
from server.retrieval.graph.merging import Edge, Merged, Node
from server.retrieval.graph.phrases import phrase_key

ENTITIES, RELATIONS = "entities", "relations"


def artefact_of(merged: Merged, of_nodes: Sequence[str], of_edges: Sequence[str]) -> Artefact:
    """Everything that a query needs; descriptions come in the order of nodes and edges."""
    nodes = list(merged.nodes.values())
    number = {node.key: n for n, node in enumerate(nodes)}
    entities = [_entity(node, text) for node, text in zip(nodes, of_nodes, strict=True)]
    relations = [
        _relation(edge, [nodes[number[key]].name for key in edge.ends], text)
        for edge, text in zip(merged.edges, of_edges, strict=True)
    ]
    ends = np.array([[number[key] for key in edge.ends] for edge in merged.edges], np.int32)
    weights = np.array([edge.weight for edge in merged.edges], np.float32)
    return Artefact(
        {ENTITIES: entities, RELATIONS: relations},
        {"ends": ends.reshape(-1, 2), "weights": weights},
    )


def _entity(node: Node, description: str) -> Record:
    text = f"{node.name}\n{description}"
    sources = tuple(sorted(node.sources, key=node.sources.__getitem__))
    data = {"name": node.name, "type": node.type}
    return Record(record_id("entity", text), text, sources, language=node.language, data=data)


def _relation(edge: Edge, names: Sequence[str], description: str) -> Record:
    keywords = ", ".join(edge.told_keywords)
    text = f"{keywords}\t{names[0]}\n{names[1]}\n{description}"
    data = {"keywords": keywords}
    return Record(record_id("relation", text), text, tuple(edge.sources), language=edge.language, data=data)


class Graph:
    """Reads an artefact. Entities and relations go by their numbers."""

    def __init__(self, live: Artefact) -> None:
        self.live = live
        self.entities = live.records.get(ENTITIES, ())
        self.relations = live.records.get(RELATIONS, ())
        self.ends: list[tuple[int, int]] = [(int(a), int(b)) for a, b in live.arrays["ends"]]
        """Of each relation, as numbers of entities."""
        self.rank = _ranks(live.arrays["ends"], live.arrays["weights"], len(self.entities))
        """Of each relation among all, 0 being the first: by the degrees of its ends, then by weight."""

    @cached_property
    def named(self) -> dict[str, int]:
        """Key of a name -> entity."""
        return {phrase_key(self.name(n)): n for n in range(len(self.entities))}

    @cached_property
    def relations_of(self) -> list[list[int]]:
        """Entity -> all that it is an end of."""
        found: list[list[int]] = [[] for _ in self.entities]
        for n, (one, other) in enumerate(self.ends):
            found[one].append(n)
            found[other].append(n)
        return found

    def name(self, entity: int) -> str:
        """As it is mostly written."""
        return str(self.entities[entity].data["name"])

    def told_entity(self, entity: int) -> str:
        """For a model to read, and for counting tokens."""
        _, _, description = self.entities[entity].text.partition("\n")
        return f"{self.name(entity)}: {description}" if description else self.name(entity)

    def told_relation(self, relation: int) -> str:
        """For a model to read, and for counting tokens."""
        _, _, described = self.relations[relation].text.partition("\n")
        _, _, description = described.partition("\n")
        keywords = str(self.relations[relation].data["keywords"])
        themes = f" ({keywords})" if keywords else ""
        return f"{self.between(relation)}{themes}: {description}"

    def between(self, relation: int) -> str:
        """The names of both ends."""
        one, other = self.ends[relation]
        return f"{self.name(one)} – {self.name(other)}"


def _ranks(ends: Array, weights: Array, entities: int) -> list[int]:
    degrees = np.bincount(ends.ravel(), minlength=entities)
    order = np.lexsort((-weights.astype(np.float64), -degrees[ends].sum(axis=1)))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    found: list[int] = ranks.tolist()
    return found
