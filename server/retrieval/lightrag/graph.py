"""The graph as records to search and arrays to walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.domain.derived import Record, record_id
from server.retrieval.derived.artefact import Artefact
from server.retrieval.graph.phrases import phrase_key
from server.retrieval.lightrag.merging import Edge, Merged, Node

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
        self.ends: NDArray[np.int32] = np.asarray(live.arrays["ends"], np.int32)
        self.weights: NDArray[np.float32] = np.asarray(live.arrays["weights"], np.float32)
        self.degrees = np.bincount(self.ends.ravel(), minlength=len(self.entities))

    @cached_property
    def named(self) -> dict[str, int]:
        """Key of a name -> entity."""
        return {phrase_key(self.name(n)): n for n in range(len(self.entities))}

    @cached_property
    def _edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Relations in the order of their ends, and where those of each entity begin."""
        flat = self.ends.ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[order], np.arange(len(self.entities) + 1))
        return order // 2, starts.astype(np.int64)

    def relations_of(self, entity: int) -> list[int]:
        """All that it is an end of."""
        order, starts = self._edges
        found: list[int] = order[starts[entity] : starts[entity + 1]].tolist()
        return found

    def rank(self, relation: int) -> tuple[int, float]:
        """What relations are sorted by: the degrees of both ends, then the weight."""
        one, other = self.ends[relation]
        return int(self.degrees[one] + self.degrees[other]), float(self.weights[relation])

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
        return f"{self.name(int(one))} – {self.name(int(other))}"
