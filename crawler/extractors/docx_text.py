"""Text of paragraphs and tables of a DOCX file: what a reader sees, without deletions and field codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lxml.etree import _Element

from crawler.extractors.docx_package import R_ID, Relation, W, child, children
from crawler.extractors.text import fold

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HIDDEN = frozenset(
    (_FALLBACK, *(W + name for name in ("del", "moveFrom", "delText", "pPr", "rPr", "sectPr")))
)
_SIGNS = {
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}noBreakHyphen": "-",
}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}
_FIELD_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]+)"')
_DEEPEST = 200


class Reader:
    """Reads one part; gathers the notes that it passes and the addresses that it links to."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self._relations = relations
        self.links: list[str] = []
        self.notes: list[tuple[str, str]] = []
        """(kind, id) of foot- and endnotes that were passed since the list was last emptied."""

    def text(self, element: _Element) -> str:
        """All text below, as it stands; line breaks are line ends."""
        return "".join(self._parts(element, 0))

    def table_lines(self, table: _Element, depth: int = 0) -> list[str]:
        """One line a row, cells separated by tabs."""
        lines = []
        for row in children(table, "tr"):
            cells = [self._cell(cell, depth) for cell in _cells(row)]
            if any(cells):
                lines.append("\t".join(cells).rstrip("\t"))
        return lines

    def _cell(self, cell: _Element, depth: int) -> str:
        parts: list[str] = []
        for item in children(cell, "p", "tbl", "sdt"):
            if item.tag == f"{W}tbl":
                inner = self.table_lines(item, depth + 1) if depth < 8 else []
                parts.extend(line.replace("\t", " ") for line in inner)
            else:
                parts.append(self.text(item))
        return fold(" ".join(parts))

    def _parts(self, element: _Element, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            return
        for item in element:
            tag = item.tag if isinstance(item.tag, str) else _FALLBACK
            if tag == f"{W}t":
                yield item.text or ""
            elif tag in _SIGNS:
                yield _SIGNS[tag]
            elif tag in _NOTES:
                self.notes.append((_NOTES[tag], item.get(f"{W}id", "")))
            elif tag == f"{W}instrText":
                self._field(item.text or "")
            elif tag not in _HIDDEN and not (tag == f"{W}r" and _is_hidden(item)):
                self._hyperlink(item)
                yield from self._parts(item, depth + 1)
                if tag == f"{W}p":
                    yield "\n"  # a paragraph of a text box, inside another one

    def _hyperlink(self, item: _Element) -> None:
        if item.tag != f"{W}hyperlink":
            return
        relation = self._relations.get(item.get(R_ID, ""))
        if relation is not None and relation.external:
            self.links.append(relation.target)

    def _field(self, code: str) -> None:
        found = _FIELD_LINK.match(code)
        if found:
            self.links.append(found[1])


def _is_hidden(run: _Element) -> bool:
    vanish = child(run, "rPr", "vanish")
    return vanish is not None and vanish.get(f"{W}val", "1") not in ("0", "false")


def _cells(row: _Element) -> Iterator[_Element]:
    for item in children(row, "tc", "sdt"):
        if item.tag == f"{W}tc":
            yield item
        else:
            yield from children(child(item, "sdtContent"), "tc")
