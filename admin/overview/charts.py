"""Charts of days as inline SVG. The page shows the same numbers in a table.

A picture has no words of its own, so that it may be stretched to any width: labels stand around it. Colours
are classes of charts.css. Charts of evaluations are of another kind: see
server/evaluation/templates/report_body.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

STEP, BAR, HEIGHT = 10, 7, 100
"""Width of one day, width of its bar, and height of the picture, in the units of the picture."""
FEWEST_DAYS = 7
"""That a picture has room for: a single day is a bar, and not a wall."""
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
    """A picture with its title, legend and scale."""

    title: str
    picture: Markup
    legend: Sequence[tuple[str, str]]
    """(name, class)"""
    top: float
    """The value of the upper edge; the lower edge is 0."""
    days: Sequence[str]


def stacked(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One bar a day, its parts one above the other."""
    sums = [sum(one.values[at] or 0 for one in series) for at in range(len(days))]
    top = _nice(max(sums, default=0))
    below = [0.0] * len(days)
    drawn = [_grounds(days, series)]
    for one in series:
        pieces = []
        for at, value in enumerate(one.values):
            if value:
                left, height = at * STEP + (STEP - BAR) / 2, HEIGHT * value / top
                below[at] += height
                pieces.append(f"M{left:g} {HEIGHT - below[at]:.2f}h{BAR}v{height:.2f}h-{BAR}z")
        if pieces:
            drawn.append(Markup('<path class="{}" d="{}"/>').format(one.colour, "".join(pieces)))
    return _chart(title, days, series, top, drawn)


def lines(title: str, days: Sequence[str], series: Sequence[Series]) -> Chart:
    """One line for each series, broken where a day has no value."""
    top = _nice(max((value for one in series for value in one.values if value is not None), default=0))
    drawn = [_line(one, top) for one in series]
    return _chart(title, days, series, top, drawn)


def _chart(
    title: str, days: Sequence[str], series: Sequence[Series], top: float, drawn: Sequence[Markup]
) -> Chart:
    picture = Markup(
        '<svg class="picture" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}</svg>'
    ).format(
        max(FEWEST_DAYS, len(days)) * STEP,
        HEIGHT,
        f"{title}. The numbers stand in the table.",
        Markup("").join(drawn),
    )
    legend = [(one.name, one.colour) for one in series if any(one.values)]
    # Whole numbers are written as such.
    return Chart(title, picture, legend, int(top) if top == int(top) else top, days)


def _grounds(days: Sequence[str], series: Sequence[Series]) -> Markup:
    """Tooltips of each day, over its whole height and not only on its bar."""
    grounds = []
    for at, day in enumerate(days):
        told = "; ".join(f"{one.name} {one.values[at]:g}" for one in series if one.values[at])
        title = escape(f"{day}: {told or 'nothing'}")
        ground = f'<rect class="ground" x="{at * STEP}" y="0" width="{STEP}" height="{HEIGHT}">'
        grounds.append(f"{ground}<title>{title}</title></rect>")
    return Markup("".join(grounds))


def _line(series: Series, top: float) -> Markup:
    pieces: list[list[str]] = [[]]
    for at, value in enumerate(series.values):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{at * STEP + STEP / 2:g},{HEIGHT - HEIGHT * value / top:.2f}")
    # A day between two without a value would be no line: it is drawn as a short one.
    paths = [piece if len(piece) > 1 else [*piece, _beside(piece[0])] for piece in pieces if piece]
    drawn = "".join(f'<polyline class="line {escape(series.colour)}" points="{" ".join(p)}"/>' for p in paths)
    return Markup(drawn)


def _beside(point: str) -> str:
    x, y = point.split(",")
    return f"{float(x) + 1:g},{y}"


def _nice(most: float) -> float:
    """The next round number."""
    if most <= 0:
        return 1.0
    power = 1.0
    while power * 10 < most:
        power *= 10
    while power > most:
        power /= 10
    return next(step * power for step in NICE if step * power >= most * 0.999999)
