"""What became of every address of a crawl, as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from server.services.csv_file import written
from server.storage.crawl_difference import Difference
from server.storage.crawl_urls import UrlRow

COLUMNS = ("address", "state", "reason", "status", "linked from", "clicks", "at")
DIFFERENCE_COLUMNS = ("address", "difference", "before", "reason before", "now", "reason now")


def csv_lines(rows: Iterable[UrlRow]) -> Iterator[str]:
    """Pieces of the file, the header first; few rows are in memory at a time."""
    return written(COLUMNS, map(_cells, rows))


def difference_lines(rows: Iterable[Difference]) -> Iterator[str]:
    """The same of what two crawls tell differently."""
    told = ((row.url, row.kind, row.before, row.before_reason, row.now, row.now_reason) for row in rows)
    return written(DIFFERENCE_COLUMNS, told)


def _cells(row: UrlRow) -> tuple[object, ...]:
    at = row.at.isoformat(timespec="seconds")
    return (row.url, row.state, row.reason, row.status or "", row.found_on, row.depth, at)
