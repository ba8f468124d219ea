"""How runs of test sets and their figures are called on the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from server.quality.run_store import STOP, QualityRun

RUN_WORDS = {
    "waiting": "Waits its turn",
    "running": "Running",
    "asks": "Waits for your yes",
    "done": "Done",
    "failed": "Failed",
    "stopped": "Stopped",
}
RUN_COLOURS = {"asks": "warn", "done": "well", "failed": "bad", "stopped": "warn"}
CHECK_WORDS = {
    "passed": ("Passed", "well"),
    "held": ("Held back", "bad"),
    "releasing": ("Going live", "busy"),
    "released": ("Let go live", "warn"),
    "dropping": ("Being dropped", "busy"),
    "dropped": ("Dropped", "warn"),
    "replaced": ("Measured again", "busy"),
}
ORIGINS = {
    "headings": "From the site’s headings",
    "upload": "Uploaded",
    "conversations": "From conversations",
    "hand": "Written by hand",
}
MAIN = ("hit@5", "mrr@10", "ndcg@10", "citation_correct")
"""Figures that lists show of a run."""


def run_word(run: QualityRun) -> str:
    """Return the state of a run in words."""
    return (
        "Stopping" if run.state == "running" and run.wanted == STOP else RUN_WORDS.get(run.state, run.state)
    )


def share(value: float | None) -> str:
    """A figure in [0, 1] as reports write it."""
    return "–" if value is None else f"{value:.3f}"


def points(value: float) -> str:
    """A difference of figures in points of a hundred."""
    return f"{100 * value:+.1f}"


def chosen_ways(chosen: Mapping[str, Any]) -> str:
    """The ways that a run asks, in a line."""
    strategies, flows = chosen.get("strategies") or [], chosen.get("flows") or []
    return f"{', '.join(strategies)}; {', '.join(flows)}"


FILTERS: dict[str, Callable[..., object]] = {
    "run_word": run_word,
    "run_colour": lambda run: RUN_COLOURS.get(run.state, "busy"),
    "share": share,
    "points": points,
    "chosen_ways": chosen_ways,
}
