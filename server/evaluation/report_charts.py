"""Charts as inline SVG. Labels and figures are text beside them, so that they stay readable at any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

LEAST_SCALE = 0.05
_CLASS = {"better": "better", "worse": "worse"}


def bars(title: str, meaning: str, values: Sequence[tuple[str, float | None]], most: float = 1.0) -> str:
    """One bar for each name, from 0 to `most`."""
    rows = []
    for name, value in values:
        share = min(1.0, max(0.0, value / most)) if value is not None and most else 0.0
        drawn = (
            '<rect class="ground" y="30%" width="100%" height="40%" rx="2"/>'
            f'<rect class="bar" y="15%" width="{100 * share:.2f}%" height="70%" rx="2"/>'
        )
        rows.append(_row(name, drawn, "–" if value is None else _number(value), f"{title}: {name}"))
    return _card(title, meaning, rows)


def times(title: str, meaning: str, values: Sequence[tuple[str, float | None, float | None]]) -> str:
    """For each name the median and, fainter, the slow end, on one scale."""
    most = max((slow or 0.0 for _, _, slow in values), default=0.0) or 1.0
    rows = []
    for name, median, slow in values:
        drawn = "".join(
            f'<rect class="{kind}" y="15%" width="{100 * (value or 0.0) / most:.2f}%" height="70%" rx="2"/>'
            for kind, value in (("slow", slow), ("bar", median))
        )
        told = "–" if median is None or slow is None else f"{_number(median)} / {_number(slow)}"
        rows.append(_row(name, drawn, told, f"{title}: {name}"))
    return _card(title, meaning, rows)


def intervals(title: str, meaning: str, comparisons: Sequence[Mapping[str, Any]]) -> str:
    """For each comparison the difference with its interval, about a line at 0."""
    # A difference in the third digit is not to fill the picture.
    widest = max(LEAST_SCALE, *(max(abs(one["low"]), abs(one["high"])) for one in comparisons))

    def at(value: float) -> str:
        return f"{50 + 48 * value / widest:.2f}%"

    rows = []
    for one in comparisons:
        drawn = (
            '<line class="zero" x1="50%" x2="50%" y1="0" y2="100%"/>'
            f'<line class="interval" x1="{at(one["low"])}" x2="{at(one["high"])}" y1="50%" y2="50%"/>'
            f'<circle class="point" cx="{at(one["difference"])}" cy="50%" r="5"/>'
        )
        verdict = one["verdict"] if one["verdict"] in _CLASS else "none"
        told = f'<span class="verdict">{escape(one["verdict"].removesuffix(" shown"))}</span>'
        row = _row(one["way"], drawn, f"{one['difference']:+.3f}", f"{title}: {one['way']}", told)
        rows.append(f'<div class="{_CLASS.get(verdict, "none")}">{row}</div>')
    return _card(title, meaning, rows)


def _card(title: str, meaning: str, rows: Sequence[str]) -> str:
    told = f'<p class="soft">{escape(meaning)}</p>' if meaning else ""
    return f'<figure class="card"><h3>{escape(title)}</h3>{told}{"".join(rows)}</figure>'


def _row(name: str, drawn: str, value: str, label: str, told: str = "") -> str:
    picture = f'<svg role="img" aria-label="{escape(f"{label}: {value}")}">{drawn}</svg>'
    behind = f"{escape(value)}<br>{told}" if told else escape(value)
    return f'<div class="row"><span>{escape(name)}</span>{picture}<span class="value">{behind}</span></div>'


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 10 else f"{value:.3f}"
