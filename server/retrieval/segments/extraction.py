"""Relevant segment extraction: the runs of neighbouring chunks that are worth reading together.

After dsRAG. Every chunk has a value, positive where it bears on the question and negative where it does not;
a segment is a run of one page's chunks, and worth the sum of their values. Segments are taken best first,
none overlapping another, until the budget is spent. Finding the best run takes time in proportion to the
number of chunks, by prefix sums and a queue of the smallest ones within reach.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long segments may be, in chunks, and how good they must be."""

    longest: int
    together: int
    """All segments."""
    least_value: float
    of_page: int
    """Segments of one page."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Chunks `start` to `end` (not included) of a page."""

    page: str
    start: int
    end: int
    value: float


def best_run(values: Sequence[float], start: int, end: int, longest: int) -> tuple[float, int, int] | None:
    """(value, start, end) of the run with the greatest sum between two places, at most `longest` chunks long;
    of equals the shortest of those that end first. None where there is no chunk."""
    if start >= end or longest < 1:
        return None
    sums = [0.0]
    for value in values[start:end]:
        sums.append(sums[-1] + value)
    best: tuple[float, int, int] | None = None
    smallest: deque[int] = deque()  # places of sums that grow, each the smallest after the one before it
    for place in range(1, len(sums)):
        while smallest and sums[smallest[-1]] >= sums[place - 1]:
            smallest.pop()
        smallest.append(place - 1)
        if smallest[0] < place - longest:
            smallest.popleft()
        value = sums[place] - sums[smallest[0]]
        if best is None or value > best[0]:
            best = (value, start + smallest[0], start + place)
    return best


def segments(values: Mapping[str, Sequence[float]], limits: Limits) -> list[Segment]:
    """The best segments of these pages, best first."""
    waiting: list[tuple[float, str, int, int, int, int]] = []

    def offer(page: str, low: int, high: int, longest: int) -> None:
        found = best_run(values[page], low, high, longest)
        if found and found[0] >= limits.least_value and found[0] > 0:
            heapq.heappush(waiting, (-found[0], page, found[1], found[2], low, high))

    for page in sorted(values):
        offer(page, 0, len(values[page]), limits.longest)
    chosen: list[Segment] = []
    room, of_page = limits.together, Counter[str]()
    while waiting and room > 0:
        value, page, start, end, low, high = heapq.heappop(waiting)
        if of_page[page] == limits.of_page:
            continue
        if end - start > room:  # what is left of the budget asks for a shorter one, which is worth less
            offer(page, low, high, room)
            continue
        chosen.append(Segment(page, start, end, -value))
        room -= end - start
        of_page[page] += 1
        offer(page, low, start, limits.longest)
        offer(page, end, high, limits.longest)
    return chosen
