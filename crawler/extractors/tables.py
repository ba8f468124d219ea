"""Tables as lines: one a row, cells separated by a tab."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml.etree import _Element

from crawler.extractors.text import fold, plain_text, raw_text, text_length

_LAYOUT_CONTENT = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "form")
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_LONG_CELL = 600
_WIDEST = 20


def is_data_table(element: _Element) -> bool:
    """False for tables that only place other content, and for those of one column."""
    if element.get("role") in ("presentation", "none"):
        return False
    rows = [list(_cells(row)) for row in _rows(element)]
    if rows and rows[0] and rows[0][0].get("rowspan") and not fold(plain_text(rows[0][0])):
        return False  # an icon beside a note
    if max(map(len, rows), default=0) < 2:
        return False
    if any(next(cell.iter("table"), None) is not None for row in rows for cell in row):
        return False
    if element.find("caption") is not None or next(element.iter("th"), None) is not None:
        return not _holds_long_code(element)
    if any(child is not element for child in element.iter(*_LAYOUT_CONTENT)):
        return False
    return len(rows) > 1 or all(text_length(cell) < _LONG_CELL for cell in rows[0])


def table_lines(element: _Element, dropped: Callable[[_Element], bool]) -> list[str]:
    """Rows with any text, the header's first.

    A cell that spans rows or columns stands in each of them, so that every line can be read by itself;
    one as wide as the table stands once, as the heading of the rows below it.
    """
    lines = []
    above: dict[int, tuple[str, int]] = {}
    for row in _rows(element):
        own = [cell for cell in _cells(row) if not dropped(cell)]
        line = _Row(above)
        for cell in own:
            wide = min(_number(cell.get("colspan")), _WIDEST) if len(own) > 1 or above else 1
            line.add(fold(raw_text(cell, dropped)), wide, _number(cell.get("rowspan")))
        line.fill()
        above = line.below
        if any(line.cells):
            lines.append("\t".join(line.cells).rstrip("\t"))
    return lines


class _Row:
    """One row being filled, with the cells that reach into it from above."""

    def __init__(self, above: dict[int, tuple[str, int]]) -> None:
        self.cells: list[str] = []
        self.below: dict[int, tuple[str, int]] = {}
        """Column -> (text, rows) of cells that reach further down."""
        self._above = above

    def add(self, text: str, wide: int, high: int) -> None:
        self.fill()
        for _ in range(wide):
            self._put(text, high - 1)

    def fill(self) -> None:
        """Puts the cells from above that come next."""
        while len(self.cells) in self._above:
            text, rows = self._above[len(self.cells)]
            self._put(text, rows - 1)

    def _put(self, text: str, rows: int) -> None:
        if rows > 0:
            self.below[len(self.cells)] = (text, rows)
        self.cells.append(text)


def _number(value: str | None) -> int:
    text = (value or "").strip()
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _rows(table: _Element) -> Iterator[_Element]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from child.iterchildren("tr")


def _cells(row: _Element) -> Iterator[_Element]:
    return row.iterchildren("td", "th")


def _holds_long_code(element: _Element) -> bool:
    return any("\n" in plain_text(code).strip() for code in element.iter("pre"))
