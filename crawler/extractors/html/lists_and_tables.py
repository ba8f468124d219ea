"""Lists, definition lists and tables as lines of text, in the line conventions of `crawler.page`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml.etree import _Element

from crawler.extractors.text import (
    APART,
    BLOCK_TAGS,
    HEADINGS,
    fold,
    name_of_wordless,
    plain_text,
    raw_text,
    text_length,
)
from crawler.wordset import wordset

_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_RICH = wordset("lists_and_tables.rich")
_DEEPEST = 20


def is_plain_list(element: _Element) -> bool:
    """Return whether the items hold nothing but text and further lists."""
    return next(element.iter(*_RICH), None) is None


def marker_of(parent: _Element, item: _Element, position: int) -> str:
    """Marker of an item: "- ", or the number that the reader sees."""
    if parent.tag != "ol":
        return "- "
    first = _number(parent.get("start"), 1)
    return f"{_number(item.get('value'), first + position)}. "


def list_parts(
    element: _Element, dropped: Callable[[_Element], bool], depth: int = 0
) -> Iterator[str | _Element]:
    """The items of a list without wrappers around them, and what HTML does not allow there but pages have:
    other elements, and text."""
    inline = [element.text or ""]
    for child in element:
        tail = child.tail or ""
        if isinstance(child.tag, str) and not dropped(child):
            wraps = child.tag not in _LISTS and child.find("li") is not None and depth < _DEEPEST
            in_text = tail.strip() or any(map(str.strip, inline))
            if wraps or child.tag in BLOCK_TAGS or not in_text:
                yield from _paragraph(inline)
                if wraps:
                    yield from list_parts(child, dropped, depth + 1)
                else:
                    yield child
            else:
                inline.append(raw_text(child, dropped))
        elif child.tag in APART:
            inline.append(" ")
        inline.append(tail)
    yield from _paragraph(inline)


def list_lines(element: _Element, dropped: Callable[[_Element], bool], level: int = 0) -> list[str]:
    """One line an item, further paragraphs of an item below it, nested items indented."""
    lines: list[str] = []
    indent = "  " * level
    position = 0
    found = list(list_parts(element, dropped))
    has_items = any(not isinstance(item, str) and item.tag == "li" for item in found)
    for item in found:
        if isinstance(item, str):
            lines.append(indent + item)
            continue
        if item.tag in _LISTS and level < _DEEPEST:  # a list in a list without an item around it
            lines += list_lines(item, dropped, level + 1)
            continue
        is_item = item.tag == "li" or not has_items  # a paragraph between items has no number
        marker = marker_of(element, item, position) if is_item else ""
        position += is_item
        for part in _parts(item, dropped):
            if not isinstance(part, str) and level >= _DEEPEST:
                part = fold(plain_text(part))
            if isinstance(part, str):
                lines.append(f"{indent}{marker}{part}")
                marker = "  "
            else:
                lines += list_lines(part, dropped, level + 1)
    return lines


def _parts(item: _Element, dropped: Callable[[_Element], bool], depth: int = 0) -> Iterator[str | _Element]:
    """Paragraphs of an item as text, nested lists as elements, in reading order."""
    inline = [item.text or ""]
    for child in item:
        tag = child.tag
        if isinstance(tag, str) and not dropped(child):
            if tag in BLOCK_TAGS and depth < _DEEPEST:
                yield from _paragraph(inline)
                if tag in _LISTS:
                    yield child
                else:
                    yield from _parts(child, dropped, depth + 1)
            elif depth < _DEEPEST and next(child.iter(*BLOCK_TAGS), None) is not None:
                yield from _paragraph(inline)
                yield from _parts(child, dropped, depth + 1)
            else:
                inline.append(" " if tag == "br" else raw_text(child, dropped))
                if tag == "br" and ends_paragraph(child):
                    yield from _paragraph(inline)
        elif tag in APART:
            inline.append(" ")
        inline.append(child.tail or "")
    yield from _paragraph(inline)


_TITLES = frozenset({"strong", "b", "em", "a"})
_UNBROKEN = frozenset({"td", "th", "address"})
"""Cells and addresses stay on one line, which is what a reader asks for."""
_LONGEST_TITLE = 100
_LEAST_UNDER_TITLE = 30


def ends_paragraph(line_break: _Element) -> bool:
    """Return whether what follows a <br> is a paragraph of its own: after an empty line, or below a title."""
    before, parent = line_break.getprevious(), line_break.getparent()
    if parent is not None and before is None and parent.tag == "li":
        # A break within a sentence has plain text on both sides. Below a title, the next line begins with an
        # element, such as a link.
        is_apart = line_break.getnext() is not None and not (line_break.tail or "").strip()
        return is_apart and _is_title(fold(parent.text or "")) and _is_below_title(line_break)
    if before is None or parent is None or (before.tail or "").strip() or parent.tag in _UNBROKEN:
        return False
    if before.tag == "br":
        return True
    if before.tag not in _TITLES or parent.tag not in BLOCK_TAGS or not _opens_paragraph(before, parent):
        return False
    return 0 < text_length(before) < _LONGEST_TITLE and _is_below_title(line_break)


def _is_title(text: str) -> bool:
    """Return whether the first line of an item is no sentence and no part of one."""
    return 0 < len(text) < _LONGEST_TITLE and text[-1] not in ".!?…,;:-–—"


def _is_below_title(line_break: _Element) -> bool:
    below = _rest_of_line(line_break)
    return len(below) > _LEAST_UNDER_TITLE and below[0].isupper()


def _opens_paragraph(element: _Element, parent: _Element) -> bool:
    before = element.getprevious()
    if before is None:
        return not (parent.text or "").strip()
    return not (before.tail or "").strip() and (
        before.tag in BLOCK_TAGS or (before.tag == "br" and ends_paragraph(before))
    )


def _rest_of_line(line_break: _Element) -> str:
    text = line_break.tail or ""
    for element in line_break.itersiblings():
        if element.tag == "br" or element.tag in BLOCK_TAGS or len(text) > _LONGEST_TITLE:
            break
        text += plain_text(element) + (element.tail or "")
    return fold(text)


def _paragraph(inline: list[str]) -> Iterator[str]:
    text = fold("".join(inline))
    inline.clear()
    if text and any(map(str.isalnum, text)):
        yield text


def _number(value: str | None, default: int) -> int:
    try:
        return int(value) if value else default
    except ValueError:
        return default


_ENTRY_RICH = wordset("lists_and_tables.rich_entry")
_LONG_ENTRY = 300
_LONG_TERM = 80


def is_compact(element: _Element) -> bool:
    """Return whether the entries are short texts, as in a glossary, and not sections of their own."""
    entries = list(element.iter("dd"))
    if not entries:
        return next(element.iter("pre", "table"), None) is None
    for entry in entries:
        if next(entry.iter(*_ENTRY_RICH), None) is not None or len(entry.findall("p")) > 1:
            return False
    return sum(map(text_length, entries)) / len(entries) < _LONG_ENTRY


def definition_lines(element: _Element, dropped: Callable[[_Element], bool]) -> list[str]:
    """The term as an item of a list, its definitions below it."""
    lines = []
    for child in element.iter("dt", "dd"):
        if dropped(child):
            continue
        text = fold(raw_text(child, dropped))
        if text:
            lines.append(("- " if child.tag == "dt" else "  ") + text)
    return lines


def term_name(term: str) -> str:
    """Name of a term in a heading path: a long signature loses its parameters.

    json.dump(obj, fp, *, skipkeys=False, and many more) -> json.dump
    """
    if len(term) <= _LONG_TERM:
        return term
    name = term.partition("(")[0].strip()
    return name if 0 < len(name) <= _LONG_TERM else f"{term[:_LONG_TERM].rsplit(' ', 1)[0]}"


_LAYOUT_CONTENT = ("table", *HEADINGS, "pre", "form")
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_LONG_CELL = 600
_SHORT_CELL = 120
_WIDEST = 20


def is_data_table(element: _Element) -> bool:
    """Return whether this is a table of data: not one of a single column or used only for layout."""
    if element.get("role") in ("presentation", "none"):
        return False
    rows = [list(_cells(row)) for row in _rows(element)]
    if rows and rows[0] and rows[0][0].get("rowspan") and not fold(plain_text(rows[0][0])):
        return False  # an icon next to a note
    if max(map(len, rows), default=0) < 2:
        return False
    if any(next(cell.iter("table"), None) is not None for row in rows for cell in row):
        return False
    if element.find("caption") is not None or next(element.iter("th"), None) is not None:
        holds_long_code = any("\n" in plain_text(code).strip() for code in element.iter("pre"))
        return not holds_long_code
    layout = {child.tag for child in element.iter(*_LAYOUT_CONTENT) if child is not element}
    if layout and not (layout.issubset(HEADINGS) and _is_grid(rows)):
        return False
    return len(rows) > 1 or all(text_length(cell) < _LONG_CELL for cell in rows[0])


def _is_grid(rows: list[list[_Element]]) -> bool:
    """Return whether all cells are short, and as many in each row: names written as headings, with times."""
    cells = [cell for row in rows for cell in row]
    short = all(text_length(cell) < _SHORT_CELL and len(cell.findall(".//p")) < 2 for cell in cells)
    return short and len({len(row) for row in rows}) == 1 and len(rows) > 1


_REPEATED = 20_000
_REPEATED_PER_OWN = 4


@dataclass(eq=False)
class RepeatBudget:
    """How much text the tables of one page may still repeat: four times the text of the cells read so far,
    and 20,000 characters. A few tags of a hostile page would otherwise become gigabytes of text."""

    left: int = _REPEATED

    def read(self, text: str) -> None:
        """Note the text of a cell of the page."""
        self.left += _REPEATED_PER_OWN * len(text)

    def copy(self, text: str) -> str:
        """Return the text of a repeated cell, which is empty if the text takes half of what is left: empty
        cells keep the columns in place, so some of the budget is kept for them."""
        repeated = text if len(text) < self.left // 2 else ""
        self.left -= len(repeated) + 1  # and the tab before it
        return repeated


def table_lines(element: _Element, dropped: Callable[[_Element], bool], repeats: RepeatBudget) -> list[str]:
    """Rows with any text, the header's first.

    A cell that spans rows or columns is repeated in each of them, so that every line makes sense alone;
    a cell as wide as the table appears once, as the heading of the rows below it. When `repeats` is used up,
    no cell spans anything.
    """
    lines = []
    above: dict[int, tuple[str, int]] = {}
    for row in _rows(element):
        own = [cell for cell in _cells(row) if not dropped(cell)]
        line = _Row(above, repeats)
        for cell in own:
            wide = min(_table_number(cell.get("colspan")), _WIDEST) if len(own) > 1 or above else 1
            text = fold(raw_text(cell, dropped)) or name_of_wordless(cell)
            line.add(text, wide, _table_number(cell.get("rowspan")))
        line.fill()
        above = line.below
        if any(line.cells):
            lines.append("\t".join(line.cells).rstrip("\t"))
    return lines


class _Row:
    """One row being filled, with the cells that reach into it from above."""

    def __init__(self, above: dict[int, tuple[str, int]], repeats: RepeatBudget) -> None:
        self.cells: list[str] = []
        self.below: dict[int, tuple[str, int]] = {}
        """Column -> (text, rows) of cells that reach further down."""
        self._above = above
        self._repeats = repeats

    def add(self, text: str, wide: int, high: int) -> None:
        self.fill()
        self._repeats.read(text)
        self._put(text, high - 1)
        for _ in range(wide - 1):
            self._repeat(text, high - 1)

    def fill(self) -> None:
        """Add the cells that reach into the next columns from above."""
        while self._repeats.left > 0 and len(self.cells) in self._above:
            text, rows = self._above[len(self.cells)]
            self._repeat(text, rows - 1)

    def _repeat(self, text: str, rows: int) -> None:
        if self._repeats.left > 0:
            self._put(self._repeats.copy(text), rows)

    def _put(self, text: str, rows: int) -> None:
        if rows > 0:
            self.below[len(self.cells)] = (text, rows)
        self.cells.append(text)


def _table_number(value: str | None) -> int:
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
