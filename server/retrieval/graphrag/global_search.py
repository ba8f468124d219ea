"""Global search without a model: which reports bear on the question, and the chunks that carry them.

Map: each report of the level, and each of its findings, is scored by the question's words and by meaning.
Where the question has little to do with any single report, as "what is this about" has, the reports that
speak of most of the site count instead. Reduce: the best points first, those that say what was said, on a
page or of a community that had its turn, later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from server.domain.chunk import ScoredChunk
from server.domain.derived import Record
from server.domain.protocols import Vector
from server.retrieval.fusion import Words
from server.retrieval.graphrag.view import GraphView

RATING_SHARE = 0.3
"""Of what a report matters to the site as a whole, beside how much of the site stands under its names."""
REPORTS_READ = 60
"""Best reports whose findings become points."""
UNRELATED, RELATED = 0.2, 0.55
"""Cosines of a question with a text that has nothing to do with it, and that is about it."""
REPORT_SHARE, CHUNK_SHARE, FOUND_SHARE = 0.5, 0.25, 0.25
"""In the score of a point: its report, how near the chunk is to the question, what hybrid search says."""
NARROW = 0.2
"""How much of this holds for a question that asks for no overview; hybrid search says the rest."""
SAME_PAGE, SAME_COMMUNITY, SAME_THEME = 0.3, 0.4, 0.75
"""What a point keeps of its score when its page, its community or that one's largest was there before."""
DYNAMIC = 0.35
"""Share of the best report's score that lets dynamic selection go into a community."""


@dataclass(frozen=True, slots=True)
class Point:
    """Something that bears on the question, and the chunk that says so."""

    chunk: str
    report: int
    """-1 for a chunk that no report names."""
    score: float
    text: str = ""


@dataclass(frozen=True)
class Asked:
    """A question, as far as reports can be compared with it."""

    vector: Vector
    words: Words
    """BM25 of reports, by the ids of their records."""
    found: Sequence[ScoredChunk] = field(default=())
    """What hybrid search found."""
    whole: bool = False
    """Whether it asks for an overview of the whole site, so that no report is nearer to it than another."""


def scored_reports(view: GraphView, asked: Asked) -> dict[int, float]:
    """All reports, in [0, 1]."""
    if not view.reports:
        return {}
    cosines = view.report_vectors @ np.asarray(asked.vector, np.float32)
    near = np.clip((cosines - UNRELATED) / (RELATED - UNRELATED), 0.0, 1.0)
    shares = asked.words.shares()
    worded = np.asarray([shares.get(one.id, 0.0) for one in view.reports])
    alike = 0.5 * near + 0.5 * worded
    headed = np.asarray([_headed(one) for one in view.reports])
    rating = np.asarray([one.data["rating"] for one in view.reports], np.float64) / 10
    weighty = RATING_SHARE * rating + (1 - RATING_SHARE) * np.sqrt(headed / max(1.0, headed.max()))
    general = 1.0 if asked.whole else 1.0 - float(alike.max())
    return {at: float(value) for at, value in enumerate((1 - general) * alike + general * weighty)}


def _headed(report: Record) -> float:
    """How much of the site stands under its names; less where most of what speaks of it does not."""
    headed, reach = float(report.data["headed"]), max(1.0, float(report.data["reach"]))  # type: ignore[arg-type]
    return headed * min(1.0, headed / reach)


def selected(view: GraphView, scores: Mapping[int, float], level: int, *, dynamic: bool) -> list[int]:
    """The reports of a level, or of those communities that bear on the question, down to it. Best first."""
    if dynamic:
        roots = [at for at in range(len(view.reports)) if view.of(at, "parent") < 0]
        chosen = _down(view, scores, roots, level)
    else:
        chosen = view.at_level(level)
    return sorted(chosen, key=lambda at: (-scores[at], at))


def _down(view: GraphView, scores: Mapping[int, float], roots: Sequence[int], level: int) -> list[int]:
    """A community gives way to those of its parts that bear on the question; one without such parts stays."""
    kept, open_ = [], list(roots)
    while open_:
        least = DYNAMIC * max(scores[at] for at in open_)
        bearing = [at for at in open_ if scores[at] >= least]
        open_ = []
        for at in bearing:
            parts = view.of(at, "children") if view.of(at, "level") < level else []
            good = [part for part in parts if scores[part] >= least]
            open_ += good
            if not good:
                kept.append(at)
    return kept


def points_of_the_whole(view: GraphView, scores: Mapping[int, float], level: int) -> list[Point]:
    """The chunks that lead into the communities of all levels down to this one."""
    points = []
    for report in range(len(view.reports)):
        if view.of(report, "level") <= level:
            text = f"{view.of(report, 'title')}: {view.of(report, 'summary')}"
            for place, id in enumerate(view.of(report, "leads")):
                points.append(Point(id, report, scores[report] / (1 + place), text))
    return points


def points_of(
    view: GraphView,
    reports: Sequence[int],
    scores: Mapping[int, float],
    near: Mapping[str, float],
    found: Sequence[ScoredChunk],
    breadth: float = 1.0,
) -> list[Point]:
    """A point for each chunk that findings of the best reports stand on, and for what hybrid search found;
    `near` holds cosines of chunks."""
    hybrid = {hit.chunk.id: hit.score for hit in found}

    def score_of(id: str, report: int) -> float:
        broad = REPORT_SHARE * scores.get(report, 0.0) + _of_chunk(id, near, hybrid)
        return breadth * broad + (1 - breadth) * hybrid.get(id, 0.0)

    best: dict[str, Point] = {}
    for report in reports[:REPORTS_READ]:
        for summary, explanation, chunks in view.of(report, "findings"):
            for id in chunks:
                score = score_of(id, report)
                if id not in best or best[id].score < score:
                    best[id] = Point(id, report, score, f"{summary} {explanation}".strip())
    of_chunk = _reports_by_chunk(view, reports)
    for id in hybrid:
        if id not in best:
            report = max(of_chunk.get(id, [-1]), key=lambda at: (scores.get(at, 0.0), -at))
            best[id] = Point(id, report, score_of(id, report))
    return list(best.values())


def in_turn(
    points: Sequence[Point], view: GraphView, pages: Mapping[str, str], limit: int, breadth: float = 1.0
) -> list[Point]:
    """The best first, so that those behind each other come from different themes and pages. Scores as they
    count then, so they never rise."""
    left = sorted((one for one in points if one.chunk in pages), key=lambda one: (-one.score, one.chunk))
    chosen: list[Point] = []
    pages_seen: dict[str, int] = {}
    reports_seen: dict[int, int] = {}
    roots_seen: dict[int, int] = {}
    roots = {one.report: view.root(one.report) if one.report >= 0 else -1 for one in left}

    def now(one: Point) -> float:
        share = SAME_PAGE ** pages_seen.get(pages[one.chunk], 0)
        share *= SAME_COMMUNITY ** reports_seen.get(one.report, 0)
        share *= SAME_THEME ** roots_seen.get(roots[one.report], 0)
        return one.score * float(share**breadth)

    while left and len(chosen) < limit:
        at = max(range(len(left)), key=lambda n: (now(left[n]), -n))
        one = left.pop(at)
        chosen.append(Point(one.chunk, one.report, now(one), one.text))
        for seen, key in ((reports_seen, one.report), (roots_seen, roots[one.report])):
            seen[key] = seen.get(key, 0) + 1
        pages_seen[pages[one.chunk]] = pages_seen.get(pages[one.chunk], 0) + 1
    return chosen


def record_of(view: GraphView, report: int) -> Record | None:
    """None for -1."""
    return view.reports[report] if report >= 0 else None


def _of_chunk(id: str, near: Mapping[str, float], hybrid: Mapping[str, float]) -> float:
    cosine = min(1.0, max(0.0, (near.get(id, 0.0) - UNRELATED) / (RELATED - UNRELATED)))
    return CHUNK_SHARE * cosine + FOUND_SHARE * hybrid.get(id, 0.0)


def _reports_by_chunk(view: GraphView, reports: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for report in reports:
        for id in view.reports[report].sources:
            found.setdefault(id, []).append(report)
    return found
