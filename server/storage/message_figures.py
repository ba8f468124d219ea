"""What is counted of an answer, read off what is stored of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

_STEPS = (10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91)
TIMES_MS = (0, *range(1, 10), *(step * 10**power for power in range(6) for step in _STEPS), 10**7)
"""Steps that times are counted in: a time is known to within a tenth, without keeping each one sorted."""


def figures_of(timings_ms: Mapping[str, float], trace: Mapping[str, Any]) -> dict[str, Any]:
    """The columns took_ms, within_ms, cost, tokens and support of `messages`."""
    took = round(sum(map(_amount, timings_ms.values())), 3)
    used = trace.get("usage")
    used = used if isinstance(used, Mapping) else {}
    support = trace.get("support")
    return {
        "took_ms": took,
        "within_ms": within(took),
        "cost": _amount(used.get("cost")),
        "tokens": int(_amount(used.get("tokens_in")) + _amount(used.get("tokens_out"))),
        "support": _share(support),
    }


def within(took_ms: float) -> int:
    """The smallest step of TIMES_MS that a time does not exceed."""
    step: int = TIMES_MS[min(bisect_left(TIMES_MS, took_ms), len(TIMES_MS) - 1)]
    return step


def cited_rows(
    message_id: str, site_id: str, at: datetime, citations: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of `cited` for one answer; of two citations with one number the first counts."""
    rows: dict[int, dict[str, Any]] = {}
    for one in citations:
        row = {"message_id": message_id, "number": one["number"], "site_id": site_id, "at": at}
        rows.setdefault(one["number"], {**row, "url": one["url"], "quote": one["quote"]})
    return list(rows.values())


def _amount(value: object) -> float:
    """A number that can be summed; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < 1e12 else 0.0


def _share(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
