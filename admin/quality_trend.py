"""Figures of one test set over time, as a line for each way of answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from server.storage.quality_runs import QualityRun

METRICS = (
    "ndcg@10", "mrr@10", "hit@5", "recall@5", "citation_correct", "refused_answerable",
    "refused_unanswerable", "groundedness", "answer_relevance",
)  # fmt: skip
WIDTH, HEIGHT, EDGE = 640, 160, 12
LEFT = 34
"""Room for the figures of the scale."""
LINES = 6
"""Ways that are told apart in one picture: as many kinds of lines as parts.css draws."""


@dataclass(frozen=True, slots=True)
class Point:
    """One way in one run."""

    run: QualityRun
    way: str
    value: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What is drawn, and the table behind it."""

    points: tuple[Point, ...]
    """The oldest first."""
    ways: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT

    def of(self, way: str) -> list[Point]:
        """The points of one line."""
        return [point for point in self.points if point.way == way]

    def line(self, way: str) -> str:
        """The attribute `points` of its polyline."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.of(way))


def trend_of(runs: Sequence[QualityRun], metric: str) -> Trend | None:
    """`runs` come newest first. None when no run has the figure."""
    ordered = list(reversed(runs))
    found = [
        (at, run, str(way["name"]), float(way["metrics"][metric]))
        for at, run in enumerate(ordered)
        for way in run.summary
        if way["metrics"].get(metric) is not None
    ]
    if not found:
        return None
    # The ways of the newest runs come first: they are what is looked at.
    ways = tuple(dict.fromkeys(way for _, _, way, _ in reversed(found)))[:LINES]
    first, last = found[0][0], found[-1][0]
    wide = (WIDTH - LEFT - EDGE) / max(1, last - first)
    points = (
        Point(run, way, value, LEFT + wide * (at - first), EDGE + (1 - value) * (HEIGHT - 2 * EDGE))
        for at, run, way, value in found
        if way in ways
    )
    return Trend(tuple(points), ways)
