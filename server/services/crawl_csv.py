"""What became of every address of a crawl, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from server.storage.crawl_difference import Difference
from server.storage.crawl_urls import UrlRow

COLUMNS = ("address", "state", "reason", "status", "linked from", "clicks", "at")
DIFFERENCE_COLUMNS = ("address", "difference", "before", "reason before", "now", "reason now")
LINES_AT_ONCE = 500
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of one."""


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


def written(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Pieces of a file with these columns; cells that a spreadsheet would reckon with are made harmless."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for number, cells in enumerate(rows, 1):
        writer.writerow([_harmless(cell) for cell in cells])
        if number % LINES_AT_ONCE == 0:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _harmless(cell: object) -> object:
    """A spreadsheet takes text that begins like this for a formula, and pages are not trusted."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell
