"""The graph, its communities and their reports as records and arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.domain.derived import Record, record_id
from server.retrieval.derived.artefact import Array, Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.graphrag.communities import Community
from server.retrieval.graphrag.graph import Entity, SiteGraph, Statement
from server.retrieval.graphrag.report import Report
from server.retrieval.graphrag.told import ToldGraph

ENTITIES, RELATIONS, REPORTS = "entities", "relations", "reports"
NAMED = 3
"""Chunks that an entity's record names; the arrays have all of them."""
MEAN_OF = 24
"""Chunks of a report whose mean stands for it."""
AT_ONCE = 2000
"""Vectors of chunks that are read at a time."""


def stored(
    kit: Kit, graph: SiteGraph, communities: Sequence[Community], reports: Sequence[Report]
) -> Artefact:
    """Everything that a query needs. Raises ModelError, IndexFailure, BuildStopped."""
    told = isinstance(graph, ToldGraph)
    ids = [chunk.id for chunk in kit.chunks]
    records = {
        ENTITIES: [_entity(one, ids, described=told) for one in graph.entities],
        RELATIONS: [_relation(graph, at, one, ids) for at, one in enumerate(graph.relations)]
        if isinstance(graph, ToldGraph)
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


def _entity(entity: Entity, ids: Sequence[str], *, described: bool) -> Record:
    text = f"{entity.name}\n{entity.description}" if described else entity.name
    sources = tuple(ids[at] for at in entity.chunks[:NAMED])
    data = {"name": entity.name, "type": entity.type}
    return Record(record_id("entity", entity.type, text, entity.name), text, sources, data=data)


def _relation(graph: SiteGraph, at: int, statement: Statement, ids: Sequence[str]) -> Record:
    text = f"{graph.between(at)}: {statement.text}"
    return Record(record_id("relation", text, str(at)), text, tuple(ids[one] for one in statement.chunks))


def _report(graph: SiteGraph, community: Community, report: Report, ids: Sequence[str]) -> Record:
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
    """Of each report, the direction in which its chunks lie together; nothing is embedded."""
    if kit.asking.trial or not of_reports:
        return np.zeros((len(of_reports), 1), np.float32)
    wanted = sorted({at for chunks in of_reports for at in chunks})
    row = {at: n for n, at in enumerate(wanted)}
    parts = []
    for start in range(0, len(wanted), AT_ONCE):
        kit.monitor.step("vectors of chunks", start, len(wanted))
        parts.append(kit.chunk_vectors([kit.chunks[at] for at in wanted[start : start + AT_ONCE]]))
    vectors = np.concatenate(parts)
    means = np.stack([vectors[[row[at] for at in chunks]].mean(axis=0) for chunks in of_reports])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (means / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def _ragged(name: str, lists: Sequence[Sequence[int]]) -> dict[str, Array]:
    """Lists of numbers as one array, and where each begins."""
    starts = np.cumsum([0, *(len(one) for one in lists)]).astype(np.int32)
    return {name: np.asarray([n for one in lists for n in one], np.int32), f"{name}_starts": starts}
