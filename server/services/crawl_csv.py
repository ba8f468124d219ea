"""What became of every address of a crawl, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from server.storage.crawl_urls import UrlRow

COLUMNS = ("address", "state", "reason", "status", "linked from", "clicks", "at")
LINES_AT_ONCE = 500


def csv_lines(rows: Iterable[UrlRow]) -> Iterator[str]:
    """Pieces of the file, the header first; few rows are in memory at a time."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for number, row in enumerate(rows, 1):
        at = row.at.isoformat(timespec="seconds")
        cells = (row.url, row.state, row.reason, row.status or "", row.found_on, row.depth, at)
        writer.writerow([_harmless(cell) for cell in cells])
        if number % LINES_AT_ONCE == 0:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _harmless(cell: object) -> object:
    """A spreadsheet takes text that begins like this for a formula, and pages are not trusted."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t")) else cell
