"""Tables as CSV files for spreadsheets."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

LINES_AT_ONCE = 500
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of one."""
_AFTER_A_SEPARATOR = re.compile(r'(?<=[;\t\r\n])(?=[ "]*[=+\-@])')
"""In many languages a spreadsheet divides cells at semicolons, and rows at the line breaks of a cell too."""


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
    if not isinstance(cell, str):
        return cell
    text = _AFTER_A_SEPARATOR.sub("'", cell)
    return f"'{text}" if text.startswith(FORMULAS) else text
