"""Charts of days as paths of an SVG picture; `_charts.html` draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, log10

from admin.texts import _

STEP, BAR, HEIGHT = 10, 7, 100
"""Width of one day, width of its bar, and height of the picture, in the units of the picture."""
FEWEST_DAYS = 7
"""A chart has room for at least this many days. Otherwise the bar of a single day would fill it."""
NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """One value a day. None where there is nothing to show."""

    name: str
    colour: str
    """Its class."""
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """What `_charts.html` draws."""

    title: str
    days: Sequence[str]
    top: float
    """The value of the upper edge; the lower edge is 0."""
    legend: Sequence[tuple[str, str]]
    """(name, class)"""
    paths: Sequence[tuple[str, str]]
    """(class, what is drawn)"""
    told: Sequence[str] = ()
    """The tooltip of each day."""

    @property
    def size(self) -> tuple[int, int, int]:
        """Width, height, and width of a day."""
        return max(FEWEST_DAYS, len(self.days)) * STEP, HEIGHT, STEP


def stacked(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One bar a day, its parts one above the other."""
    sums = [sum(one.values[at] or 0 for one in series) for at in range(len(days))]
    top = _nice(max(sums, default=0))
    below = [0.0] * len(days)
    paths, told = [], []
    for one in series:
        path = ""
        for at, value in enumerate(one.values):
            if value:
                left, height = at * STEP + (STEP - BAR) / 2, HEIGHT * value / top
                below[at] += height
                path += f"M{left:g} {HEIGHT - below[at]:.2f}h{BAR}v{height:.2f}h-{BAR}z"
        if path:
            paths.append((one.colour, path))
    for at, day in enumerate(days):
        parts = "; ".join(f"{one.name} {one.values[at]:g}" for one in series if one.values[at])
        told.append(f"{day}: {parts or _('nothing')}")
    return Chart(title, days, top, _legend(series), paths, told)


def lines(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One line for each series, broken where a day has no value."""
    top = _nice(max((value for one in series for value in one.values if value is not None), default=0))
    return Chart(
        title, days, top, _legend(series), [(f"line {one.colour}", _line(one, top)) for one in series]
    )


def _legend(series: Sequence[Series]) -> list[tuple[str, str]]:
    return [(one.name, one.colour) for one in series if any(one.values)]


def _line(series: Series, top: float) -> str:
    points = [
        None if value is None else f"{at * STEP + STEP / 2:g} {HEIGHT - HEIGHT * value / top:.2f}"
        for at, value in enumerate(series.values)
    ]
    pieces = [list(filter(None, piece)) for drawn, piece in groupby(points, bool) if drawn]
    # A day between two without a value would be no line: it is drawn as a short one.
    return "".join(f"M{'L'.join(piece)}{'h1' if len(piece) == 1 else ''}" for piece in pieces)


def _nice(most: float) -> float:
    """The next round number; a whole one without a point."""
    if most <= 0:
        return 1
    power = 10.0 ** floor(log10(most))
    nice = next(step * power for step in NICE if step * power >= most * 0.999999)
    return int(nice) if nice == int(nice) else nice
