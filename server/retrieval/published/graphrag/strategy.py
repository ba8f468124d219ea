"""GraphRAG: questions about single things and about the whole of a site, by a graph and reports on its parts.

After Edge and others, "From Local to Global: A Graph RAG Approach to Query-Focused Summarization" (2024).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.retrieval.parts import stored_cosines
from server.retrieval.published.derived.build import Artefact, Kit
from server.retrieval.published.derived.index import DerivedSearch, derived_kind
from server.retrieval.published.graphrag.graph import GraphRagOptions, model_extracted_graph
from server.retrieval.published.graphrag.phrase_graph import phrase_graph
from server.retrieval.published.graphrag.reports import ReportWriter, communities
from server.retrieval.published.graphrag.search import (
    MOST_ENTITIES,
    NARROW,
    REPORTS_READ,
    MappedPoint,
    ReportPoint,
    contexts,
    entities_of,
    in_turn,
    led_to,
    mapped_points,
    points_of,
    points_of_the_whole,
    scored_reports,
    selected,
    shuffled_parts,
)
from server.retrieval.published.graphrag.stored import ENTITIES, REPORTS, GraphView, stored
from server.retrieval.question_kinds import QuestionKind, asks_for_the_whole, kind_of

DEEP = 100
"""So deep hybrid search is looked at."""
OVERSAMPLE = 2
"""Entities that are looked at for each that is taken."""
WORDED = 300
"""Reports that are found by words."""

WHY = "report: "


def derive(kit: Kit, options: GraphRagOptions) -> Artefact:
    """The graph, its communities at all levels, and a report on each."""
    with_model = kit.asking.model is not None and options.extraction == "full"
    graph = model_extracted_graph(kit, options) if with_model else phrase_graph(kit)
    found = communities(graph, options.cluster_size)
    return stored(kit, graph, found, ReportWriter(kit, graph, found).all())


class GraphRagSearch(DerivedSearch[GraphRagOptions]):
    """Modes local and global, and auto, which chooses by the question."""

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Global for an overview, else local, unless the options say which."""
        view = live.view(GraphView)
        mode = self._options.mode
        if mode == "auto":
            mode = "global" if kind_of(query.text) is QuestionKind.OVERVIEW else "local"
        found = self._index.hybrid.retrieve(query, max(DEEP, limit))
        if mode == "global" and view.reports:
            hits = self._global(query, limit, view, found)
        else:
            hits = self._local(query, limit, view, found)
        return self._index.hybrid.finish(query, hits)

    def _local(
        self, query: Query, limit: int, view: GraphView, found: Sequence[ScoredChunk]
    ) -> list[ScoredChunk]:
        near: list[tuple[int, float]] = []
        if view.relations:  # with descriptions that a model wrote
            hits = self._index.nearest(ENTITIES, self._vector(query), OVERSAMPLE * MOST_ENTITIES, view.live)
            near = [(view.live.place[record.id], cosine) for record, cosine in hits]
        led = led_to(view, entities_of(view, query, near, found))
        known = {hit.chunk.id for hit in found}
        others = [id for id in led.chunks if id not in known]
        best = self._with_graph(found, others, led.chunks, self._options.graph_share, limit)
        told = contexts(view, led, best, self._options.tokens, self._index.deriving.estimate_tokens)
        names = ", ".join(str(view.entities[one].data["name"]) for one in list(led.entities)[:3])
        return [
            replace(hit, context=context, why=f"graph: {names}" if hit.scores.get("graph") else "")
            for hit, context in zip(best, told, strict=True)
        ]

    def _global(
        self, query: Query, limit: int, view: GraphView, found: Sequence[ScoredChunk]
    ) -> list[ScoredChunk]:
        vector = self._vector(query)
        whole = asks_for_the_whole(query.text)
        words = self._index.word_scores(REPORTS, query, WORDED, view.live)
        scores = scored_reports(view, vector, words, whole=whole)
        reports = selected(view, scores, self._options.level, dynamic=self._options.dynamic)
        ids = {id for at in reports[:REPORTS_READ] for one in view.of(at, "findings") for id in one[2]} | {
            hit.chunk.id for hit in found
        }
        near = stored_cosines(self._parts.vectors, vector, sorted(ids))
        breadth = 1.0 if kind_of(query.text) is QuestionKind.OVERVIEW else NARROW
        points = points_of_the_whole(view, scores, self._options.level) if whole else []
        points = points or points_of(view, reports, scores, near, found, breadth)
        points += self._said(query, view, reports, near)
        chunks = self._parts.chunks.load(list({one.chunk for one in points}))
        pages = {id: chunk.url for id, chunk in chunks.items()}
        hits = _hits(in_turn(points, view, pages, limit, breadth), chunks, near, view)
        return [replace(hit, theme=hit.why.removeprefix(WHY)) for hit in hits] if whole else hits

    def _said(
        self, query: Query, view: GraphView, reports: Sequence[int], near: Mapping[str, float]
    ) -> list[ReportPoint]:
        """Return what the model says of the best reports, ahead of all that is found without it."""
        if self._index.model is None:
            return []
        estimate, options = self._index.deriving.estimate_tokens, self._options
        parts = shuffled_parts(view, reports, options.map_calls, options.tokens, estimate)
        try:
            said = mapped_points(self._index.model, view, query.text, parts)
        except ModelError as error:
            self._parts.on_failure(error.kind, f"reading reports for {self._index.name}: {error}")
            return []
        return [point for one in said for point in _points(one, view, near)]


def _points(said: MappedPoint, view: GraphView, near: Mapping[str, float]) -> list[ReportPoint]:
    """The chunk of the finding that says most of the same, for each report that the model names."""
    words = set(said.description.casefold().split())
    points = []
    for report in said.reports:
        findings = view.of(report, "findings")
        if not findings:
            continue
        best = max(findings, key=lambda one: len(words & set(f"{one[0]} {one[1]}".casefold().split())))
        chunk = max(best[2], key=lambda id: near.get(id, 0.0))
        points.append(ReportPoint(chunk, report, 1.0 + said.score, said.description))
    return points


def _hits(
    points: Sequence[ReportPoint], chunks: Mapping[str, Chunk], near: Mapping[str, float], view: GraphView
) -> list[ScoredChunk]:
    """The chunks of the points, each once, each report with the first of its chunks."""
    best = max((one.score for one in points), default=1.0) or 1.0
    told: set[int] = set()
    hits: dict[str, ScoredChunk] = {}
    for one in points:
        if one.chunk in hits:
            continue
        scores = {"dense": round(near[one.chunk], 4)} if one.chunk in near else {}
        context = why = ""
        if one.report >= 0:
            why = f"{WHY}{view.of(one.report, 'title')}"
            context = (
                one.text if one.report in told else f"{one.text}\n\n{view.reports[one.report].text}".strip()
            )
            told.add(one.report)
        hits[one.chunk] = ScoredChunk(
            chunks[one.chunk],
            min(1.0, one.score / best),
            {**scores, "report": round(one.score, 4)},
            context,
            why,
        )
    return list(hits.values())


GRAPHRAG = derived_kind("graphrag", GraphRagOptions, derive, GraphRagSearch, version=2)
