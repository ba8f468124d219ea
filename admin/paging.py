"""Lists in pages: one row more is asked for than is shown, so that no list needs to be counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from flask import request

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    number: int
    """From 1."""
    more: bool
    """Whether there is a next page."""


def listed(fetch: Callable[[int, int], Sequence[Row]], size: int) -> Listing[Row]:
    """The page that `?page=` asks for; `fetch` takes limit and offset."""
    number = min(max(request.args.get("page", 1, type=int), 1), 1_000_000)
    rows = fetch(size + 1, (number - 1) * size)
    return Listing(rows[:size], number, len(rows) > size)
