"""DOCX files: headings by style, lists, tables, code, footnotes, links. Headers and footers are left out.

1. package.py unpacks the parts of the zip archive and parses their XML, within limits.
2. `_Styles` says what each paragraph is.
3. `_Reader` reads the text of paragraphs and tables, without deletions and field codes.
4. `_Walk` turns paragraphs and tables into blocks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element

from crawler.discovery import urls
from crawler.errors import BadFile
from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.docx.package import R_ID, Package, Relation, W, child, children, value
from crawler.extractors.language import language_of_text, primary_language
from crawler.extractors.outline import LONGEST_HEADING, Outline
from crawler.extractors.text import fold, name_in_address
from crawler.page import Block, BlockKind

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_LANGUAGE = "{http://purl.org/dc/elements/1.1/}language"
_MOST_BASES = 20
_DEEPEST_LIST = 8
_DEEPEST_TABLE = 8
_DEEPEST_WRAPPER = 50
_DEEPEST_TEXT = 200
_BODY_LEVEL = 9

_HEADING = re.compile(r"(?:heading|überschrift|titre|titolo|título|rubrik|заголовок|标题|見出し)"
                      r"\s*([1-9])", re.IGNORECASE)  # fmt: skip
_CODE = re.compile(r"\bcode\b|source|preformatted|verbatim|listing|html pre", re.IGNORECASE)
_LISTED = re.compile(r"list (bullet|number)(?: ([2-5]))?", re.IGNORECASE)
_FIELD_LINK = re.compile(r'^\s*HYPERLINK\s+"([^"]+)"')
_WRAPPERS = frozenset(W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml"))
_HIDDEN = frozenset(
    (_FALLBACK, *(W + name for name in ("del", "moveFrom", "delText", "pPr", "rPr", "sectPr")))
)
_SIGNS = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}noBreakHyphen": "-"}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}

_Note = tuple[str, str]
"""(kind, id) of a footnote or endnote."""


def extract(source: SourceDocument) -> Extraction:
    """Read a DOCX file. Raises BadFile if it is protected, damaged or unpacks to more than the limit."""
    with closing(Package(source.body, source.limits.unpacked_bytes)) as package:
        name = package.document()
        body = child(package.xml(name), "body")
        if body is None:
            raise BadFile("it is no DOCX file: it has no document inside")
        styles = _Styles(package.related(name, "styles"), package.related(name, "numbering"))
        reader = _Reader(package.relations(name))
        walk = _Walk(styles, reader, _notes(package, name))
        walk.blocks_of(body)
        core = package.related("", "core-properties")
    blocks = tuple(walk.blocks)
    first_heading = next((block.heading_path[0] for block in blocks if block.heading_path), "")
    links = tuple(dict.fromkeys(url for link in reader.links if (url := urls.canonical(link, source.url))))
    declared = primary_language(source.language) or primary_language(_property(core, _LANGUAGE))
    page = source.page(
        _property(core, _TITLE) or walk.title or first_heading or name_in_address(source.url),
        declared or language_of_text(" ".join(block.text for block in blocks[:60])),
        blocks,
        links,
    )
    return Extraction(page, follow=links)


def _property(core: _Element | None, tag: str) -> str:
    found = core.find(tag) if core is not None else None
    return fold(found.text or "")[:300] if found is not None else ""


class _Walk:
    """Turns paragraphs and tables into blocks."""

    def __init__(self, styles: _Styles, reader: _Reader, notes: Mapping[_Note, str]) -> None:
        self._styles = styles
        self._reader = reader
        self._notes = notes
        self._outline = Outline()
        self._items: list[str] = []
        self._list = ""
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._code: list[str] = []
        self._pending: list[str] = []
        self.blocks: list[Block] = []
        self.title = ""

    def blocks_of(self, body: _Element) -> None:
        """Read all of the document's body into `blocks` and `title`."""
        for item in _items(body, 0):
            if item.tag == f"{W}tbl":
                self._end()
                self._table(item)
            else:
                self._paragraph(item)
        self._end()

    def _paragraph(self, item: _Element) -> None:
        role = self._styles.role(item)
        text = self._reader.text(item)
        self._take_notes()
        if not text.strip():
            return
        if role.listed:
            self._item(role, fold(text))
        elif role.code:
            self._end(but="code")
            self._code.append(text.rstrip())
        else:
            self._end()
            self._plain(role, fold(text))

    def _plain(self, role: _Role, text: str) -> None:
        if role.heading and len(text) <= LONGEST_HEADING:
            self._outline.push(role.heading, text, "")
        elif role.title and not self.title and not self.blocks:
            self.title = text
        else:
            self._add(text, "text")
            self._flush_notes()

    def _item(self, role: _Role, text: str) -> None:
        self._end(but="list" if role.listed == self._list or role.depth else "")
        self._list = self._list or role.listed
        counts = self._counts[role.listed]
        counts[role.depth] = counts.get(role.depth, 0) + 1
        for deeper in [depth for depth in counts if depth > role.depth]:
            del counts[deeper]
        marker = f"{counts[role.depth]}." if role.numbered else "-"
        self._items.append(f"{'  ' * role.depth}{marker} {text}")

    def _table(self, table: _Element) -> None:
        lines = self._reader.table_lines(table)
        self._take_notes()
        if any("\t" in line for line in lines):
            self._add("\n".join(lines), "table")
        else:
            for line in lines:
                self._add(line, "text")
        self._flush_notes()

    def _end(self, but: str = "") -> None:
        """End the current list or code, except the kind named by `but`, which goes on."""
        if self._items and but != "list":
            self._add("\n".join(self._items), "list")
            self._items, self._list = [], ""
            self._flush_notes()
        if self._code and but != "code":
            self._add("\n".join(self._code), "code")
            self._code = []
            self._flush_notes()

    def _add(self, text: str, kind: BlockKind) -> None:
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(text, self._outline.path, kind))

    def _take_notes(self) -> None:
        noted, self._reader.notes = self._reader.notes, []
        self._pending += [text for note in noted if (text := self._notes.get(note, ""))]

    def _flush_notes(self) -> None:
        """Add the notes after the block that refers to them."""
        pending, self._pending = self._pending, []
        for text in pending:
            self._add(text, "text")


def _items(element: _Element, depth: int) -> Iterator[_Element]:
    """Paragraphs and tables in order, including those inside content controls and insertions."""
    for item in element:
        if item.tag in (f"{W}p", f"{W}tbl"):
            yield item
        elif item.tag in _WRAPPERS and depth < _DEEPEST_WRAPPER:
            yield from _items(item, depth + 1)


def _notes(package: Package, part: str) -> dict[_Note, str]:
    """Texts of footnotes and endnotes."""
    found: dict[_Note, str] = {}
    for kind in ("footnote", "endnote"):
        reader = _Reader({})
        for note in children(package.related(part, f"{kind}s"), kind):
            if note.get(f"{W}type", "normal") == "normal":
                text = " ".join(reader.text(paragraph) for paragraph in children(note, "p"))
                found[kind, note.get(f"{W}id", "")] = fold(text)
    return found


class _Reader:
    """Reads the text of one part; collects the notes and links found on the way."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self._relations = relations
        self.links: list[str] = []
        self.notes: list[_Note] = []
        """Notes referred to since the list was last emptied."""

    def text(self, element: _Element) -> str:
        """All visible text below `element`, with line breaks as line ends."""
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
                inner = self.table_lines(item, depth + 1) if depth < _DEEPEST_TABLE else []
                parts.extend(line.replace("\t", " ") for line in inner)
            else:
                parts.append(self.text(item))
        return fold(" ".join(parts))

    def _parts(self, element: _Element, depth: int) -> Iterator[str]:
        if depth > _DEEPEST_TEXT:
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
                self.links += _FIELD_LINK.findall(item.text or "")[:1]
            elif tag not in _HIDDEN and not (tag == f"{W}r" and _is_hidden(item)):
                self._take_link(item)
                yield from self._parts(item, depth + 1)
                if tag == f"{W}p":
                    yield "\n"  # a paragraph of a text box, inside another one

    def _take_link(self, item: _Element) -> None:
        relation = self._relations.get(item.get(R_ID, "")) if item.tag == f"{W}hyperlink" else None
        if relation is not None and relation.external:
            self.links.append(relation.target)


def _is_hidden(run: _Element) -> bool:
    vanish = child(run, "rPr", "vanish")
    return vanish is not None and vanish.get(f"{W}val", "1") not in ("0", "false")


def _cells(row: _Element) -> Iterator[_Element]:
    for item in children(row, "tc", "sdt"):
        if item.tag == f"{W}tc":
            yield item
        else:
            yield from children(child(item, "sdtContent"), "tc")


@dataclass(frozen=True, slots=True)
class _Role:
    """The role of a paragraph in the document."""

    heading: int = 0
    """Level from 1; 0 for any other paragraph."""
    title: bool = False
    code: bool = False
    listed: str = ""
    """Number of its list; empty for a paragraph that is no item."""
    depth: int = 0
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    """The properties of a style, or of a paragraph itself, that decide its role."""

    name: str
    base: str
    outline: str
    number: str
    depth: str


class _Styles:
    """The styles and numberings of one file.

    Word processors translate the ids of styles ("berschrift1", "Titre1"), but not the names in the file
    ("heading 1") or the outline levels.
    """

    def __init__(self, styles: _Element | None, numbering: _Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default = ""
        for style in children(styles, "style"):
            id = style.get(f"{W}styleId", "")
            self._styles[id] = _read(style, child(style, "pPr"))
            if style.get(f"{W}type") == "paragraph" and style.get(f"{W}default") in ("1", "true"):
                self._default = self._default or id
        abstract = {
            item.get(f"{W}abstractNumId", ""): _formats(item) for item in children(numbering, "abstractNum")
        }
        self._formats = {
            number.get(f"{W}numId", ""): abstract.get(value(number, "abstractNumId"), {})
            for number in children(numbering, "num")
        }

    def role(self, paragraph: _Element) -> _Role:
        """Return what `paragraph` is: heading, title, list item or code, by its style and numbering."""
        properties = child(paragraph, "pPr")
        own = _read(None, properties)
        chain = [own, *self._chain(value(properties, "pStyle") or self._default)]
        names = [style.name for style in chain]
        level = _heading_level(chain, names)
        if level:
            return _Role(heading=level)
        if any(name.lower() == "title" for name in names):
            return _Role(title=True)
        listed, depth = _numbering(chain)
        by_name = next((match for name in names if (match := _LISTED.fullmatch(name))), None)
        named_depth = int(by_name[2] or 1) - 1 if by_name else 0
        if listed:
            numbered = self._formats.get(listed, {}).get(depth, "") not in ("bullet", "none", "")
            return _Role(listed=listed, depth=max(depth, named_depth), numbered=numbered)
        if by_name:
            kind = by_name[1].lower()
            return _Role(listed=kind, depth=named_depth, numbered=kind == "number")
        return _Role(code=any(_CODE.search(name) for name in names))

    def _chain(self, style_id: str) -> list[_Style]:
        """A style and those that it is based on."""
        found: list[_Style] = []
        while (style := self._styles.get(style_id)) is not None and len(found) < _MOST_BASES:
            found.append(style)
            style_id = style.base
        return found


def _read(style: _Element | None, properties: _Element | None) -> _Style:
    return _Style(
        name=value(style, "name")[:100],
        base=value(style, "basedOn"),
        outline=value(properties, "outlineLvl"),
        number=value(properties, "numPr", "numId"),
        depth=value(properties, "numPr", "ilvl"),
    )


def _formats(abstract: _Element) -> dict[int, str]:
    levels = islice(children(abstract, "lvl"), _DEEPEST_LIST + 1)
    return {_small(level.get(f"{W}ilvl", "")) or 0: value(level, "numFmt") for level in levels}


def _heading_level(chain: list[_Style], names: list[str]) -> int:
    level = next((found for style in chain if (found := _small(style.outline)) is not None), None)
    if level is not None:
        return level + 1 if level < _BODY_LEVEL else 0
    match = next((match for name in names if (match := _HEADING.match(name))), None)
    return int(match[1]) if match else 0


def _numbering(chain: list[_Style]) -> tuple[str, int]:
    """(number of the list, depth); ("", 0) for a paragraph that is no item."""
    style = next((style for style in chain if style.number), None)
    if style is None or style.number == "0":
        return "", 0
    return style.number, min(_small(style.depth) or 0, _DEEPEST_LIST)


def _small(text: str) -> int | None:
    return int(text) if len(text) <= 3 and text.isascii() and text.isdecimal() else None
