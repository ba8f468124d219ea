"""Reads what is stored of a graph, for queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.domain.derived import Record
from server.retrieval.derived.artefact import Artefact
from server.retrieval.graph.names import Names
from server.retrieval.graph.phrases import phrase_key
from server.retrieval.graphrag.stored import ENTITIES, RELATIONS, REPORTS


class GraphView:
    """Entities, relations and reports by number; chunks by id."""

    def __init__(self, live: Artefact) -> None:
        self.live = live
        self.entities: Sequence[Record] = live.records[ENTITIES]
        self.relations: Sequence[Record] = live.records[RELATIONS]
        """Empty where phrases make the graph."""
        self.reports: Sequence[Record] = live.records[REPORTS]
        self.chunk_ids: Any = live.facts["chunks"]
        self.ends = np.asarray(live.arrays["ends"], np.int64)
        self.weights = np.asarray(live.arrays["weights"], np.float32)
        self.report_vectors = np.asarray(live.arrays["report_vectors"], np.float32)

    def chunks_of(self, entity: int) -> list[str]:
        """Where it occurs, in page order."""
        return [self.chunk_ids[at] for at in _slice(self.live, "chunks", entity)]

    def spread(self, entity: int) -> int:
        """In how many chunks it occurs."""
        starts = self.live.arrays["chunks_starts"]
        return int(starts[entity + 1]) - int(starts[entity])

    @cached_property
    def named(self) -> dict[str, int]:
        """Key of a name -> entity."""
        return {phrase_key(str(one.data["name"])): at for at, one in enumerate(self.entities)}

    @cached_property
    def names(self) -> Names:
        """Finds the names of entities in a text."""
        return Names(self.named)

    @cached_property
    def entities_in(self) -> dict[str, list[int]]:
        """Chunk -> its entities."""
        found: dict[str, list[int]] = defaultdict(list)
        for entity in range(len(self.entities)):
            for id in self.chunks_of(entity):
                found[id].append(entity)
        return found

    @cached_property
    def reports_on(self) -> dict[int, list[int]]:
        """Entity -> the reports on its communities, the coarsest first."""
        found: dict[int, list[int]] = defaultdict(list)
        for report in range(len(self.reports)):
            for entity in _slice(self.live, "members", report):
                found[entity].append(report)
        return found

    @cached_property
    def _of_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Relations in the order of their ends, and where those of each entity begin."""
        flat = self.ends.ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[order], np.arange(len(self.entities) + 1))
        return order // 2, starts.astype(np.int64)

    def relations_of(self, entity: int) -> list[int]:
        """All that it is an end of."""
        order, starts = self._of_ends
        found: list[int] = order[starts[entity] : starts[entity + 1]].tolist()
        return found

    def at_level(self, level: int) -> list[int]:
        """The reports that together speak of everything: those of a level, and coarser ones that are not
        divided further."""
        return [
            at
            for at, report in enumerate(self.reports)
            if self.of(at, "level") == level or (self.of(at, "level") < level and not report.data["children"])
        ]

    def of(self, report: int, name: str) -> Any:
        """What is stored of a report under this name."""
        return self.reports[report].data[name]

    def root(self, report: int) -> int:
        """The largest community that it is a part of."""
        while self.of(report, "parent") >= 0:
            report = self.of(report, "parent")
        return report


def _slice(live: Artefact, name: str, at: int) -> list[int]:
    starts = live.arrays[f"{name}_starts"]
    found: list[int] = live.arrays[name][int(starts[at]) : int(starts[at + 1])].tolist()
    return found
