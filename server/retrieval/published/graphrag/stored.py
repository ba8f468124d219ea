"""The graph, its communities and their reports as records and arrays, and how queries read them."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.domain.derived import Record, record_id
from server.retrieval.published.derived.build import Array, Artefact, Kit, batched
from server.retrieval.published.graph.phrases import NameFinder, phrase_key
from server.retrieval.published.graphrag.graph import ModelExtractedGraph, SiteEntity, SiteGraph, Statement
from server.retrieval.published.graphrag.reports import Community, CommunityReport

ENTITIES, RELATIONS, REPORTS = "entities", "relations", "reports"
NAMED = 3
"""Chunks that an entity's record names; the arrays have all of them."""
MEAN_OF = 24
"""Chunks of a report whose mean stands for it."""
AT_ONCE = 2000
"""Vectors of chunks that are read at a time."""


def stored(
    kit: Kit, graph: SiteGraph, communities: Sequence[Community], reports: Sequence[CommunityReport]
) -> Artefact:
    """Everything that a query needs. Raises ModelError, IndexFailure, BuildStopped."""
    told = isinstance(graph, ModelExtractedGraph)
    ids = [chunk.id for chunk in kit.chunks]
    records = {
        ENTITIES: [_entity(one, ids, described=told) for one in graph.entities],
        RELATIONS: [_relation(graph, at, one, ids) for at, one in enumerate(graph.relations)]
        if isinstance(graph, ModelExtractedGraph)
        else [],
        REPORTS: [
            _report(graph, community, report, ids)
            for community, report in zip(communities, reports, strict=True)
        ],
    }
    kit.words(REPORTS, records[REPORTS])
    if told:
        kit.vectors(ENTITIES, records[ENTITIES])
        vectors = kit.vectors(REPORTS, records[REPORTS])
    else:
        vectors = _means(kit, [report.chunks[:MEAN_OF] for report in reports])
    arrays: dict[str, Array] = {
        "ends": graph.ends,
        "weights": graph.weights.astype(np.float32),
        "report_vectors": vectors.astype(np.float16),
        **_ragged("chunks", [one.chunks for one in graph.entities]),
        **_ragged("members", [one.entities for one in communities]),
    }
    return Artefact(records, arrays, {"chunks": ids})


def _entity(entity: SiteEntity, ids: Sequence[str], *, described: bool) -> Record:
    text = f"{entity.name}\n{entity.description}" if described else entity.name
    sources = tuple(ids[at] for at in entity.chunks[:NAMED])
    data = {"name": entity.name, "type": entity.type}
    return Record(record_id("entity", entity.type, text, entity.name), text, sources, data=data)


def _relation(graph: SiteGraph, at: int, statement: Statement, ids: Sequence[str]) -> Record:
    text = f"{graph.between(at)}: {statement.text}"
    return Record(record_id("relation", text, str(at)), text, tuple(ids[one] for one in statement.chunks))


def _report(graph: SiteGraph, community: Community, report: CommunityReport, ids: Sequence[str]) -> Record:
    names = sorted(graph.entities[at].name for at in community.entities)
    findings = [[one.summary, one.explanation, [ids[at] for at in one.chunks]] for one in report.findings]
    data = {
        "level": community.level,
        "parent": community.parent,
        "children": community.children,
        "reach": community.reach,
        "rating": report.rating,
        "title": report.title,
        "summary": report.summary,
        "findings": findings,
        "leads": [ids[at] for at in report.leads],
        "headed": report.headed,
    }
    first = graph.chunks[report.chunks[0]]
    return Record(
        record_id("report", str(community.level), *names, report.text),
        report.text,
        tuple(ids[at] for at in report.chunks),
        title=report.title,
        language=first.language,
        data=data,
    )


def _means(kit: Kit, of_reports: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """The mean direction of the chunks of each report; nothing is embedded."""
    if kit.asking.trial or not of_reports:
        return np.zeros((len(of_reports), 1), np.float32)
    wanted = sorted({at for chunks in of_reports for at in chunks})
    row = {at: n for n, at in enumerate(wanted)}
    parts = [
        kit.chunk_vectors([kit.chunks[at] for at in batch])
        for batch in batched(kit.monitor, "vectors of chunks", wanted, AT_ONCE)
    ]
    vectors = np.concatenate(parts)
    means = np.stack([vectors[[row[at] for at in chunks]].mean(axis=0) for chunks in of_reports])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (means / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def _ragged(name: str, lists: Sequence[Sequence[int]]) -> dict[str, Array]:
    """Lists of numbers as one array, and where each begins."""
    starts = np.cumsum([0, *(len(one) for one in lists)]).astype(np.int32)
    return {name: np.asarray([n for one in lists for n in one], np.int32), f"{name}_starts": starts}


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
    def names(self) -> NameFinder:
        """Finds the names of entities in a text."""
        return NameFinder(self.named)

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
        """Return what is stored of a report under this name."""
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
