"""DOCX files: headings by style, lists, tables, code, footnotes, links. Headers and footers are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from lxml.etree import _Element

from crawler.discovery import urls
from crawler.errors import BadFile
from crawler.extractors import Extraction, Source
from crawler.extractors.docx_package import Package, W, child, children
from crawler.extractors.docx_styles import Role, Styles
from crawler.extractors.docx_text import Reader
from crawler.extractors.language import language_of_text
from crawler.extractors.metadata import primary_language
from crawler.extractors.outline import Outline
from crawler.extractors.text import fold
from crawler.page import Block, Page, content_hash

_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_LANGUAGE = "{http://purl.org/dc/elements/1.1/}language"
_DEEPEST = 50
_AROUND = frozenset(W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml"))


def extract(source: Source) -> Extraction:
    """Raises BadFile for a file that is protected, damaged or unpacks to more than the limit."""
    with Package(source.body, source.limits.unpacked_bytes) as package:
        name = package.document()
        root = package.xml(name)
        body = child(root, "body")
        if body is None:
            raise BadFile("it is no DOCX file: it has no document inside")
        styles = Styles(package.related(name, "styles"), package.related(name, "numbering"))
        walk = _Walk(styles, Reader(package.relations(name)), _notes(package, name))
        walk.blocks_of(body)
        core = package.related("", "core-properties")
    blocks = tuple(walk.blocks)
    title = _told(core, _TITLE) or walk.title or _first_heading(blocks) or _name_in(source.url)
    links = tuple(dict.fromkeys(url for link in walk.links if (url := urls.canonical(link, source.url))))
    text = " ".join(block.text for block in blocks[:60])
    told = primary_language(source.language) or primary_language(_told(core, _LANGUAGE))
    page = Page(
        url=source.url,
        title=title,
        language=told or language_of_text(text),
        blocks=blocks,
        links=links,
        content_hash=content_hash(title, blocks),
        etag=source.etag,
        last_modified=source.last_modified,
    )
    return Extraction(page, follow=links)


class _Walk:
    """From paragraphs and tables to blocks."""

    def __init__(self, styles: Styles, reader: Reader, notes: dict[tuple[str, str], str]) -> None:
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

    @property
    def links(self) -> list[str]:
        return self._reader.links

    def blocks_of(self, body: _Element) -> None:
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
            self._plain(role, text)

    def _plain(self, role: Role, text: str) -> None:
        if role.heading:
            self._outline.push(role.heading, fold(text), "")
        elif role.title and not self.title and not self.blocks:
            self.title = fold(text)
        else:
            # A line break within a paragraph ends nothing, but quotes must not run over it.
            self._add(fold(text), "text")
            self._flush_notes()

    def _item(self, role: Role, text: str) -> None:
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
        """Ends the list or code under way, unless it is what goes on."""
        if self._items and but != "list":
            self._add("\n".join(self._items), "list")
            self._items, self._list = [], ""
            self._flush_notes()
        if self._code and but != "code":
            self._add("\n".join(self._code), "code")
            self._code = []
            self._flush_notes()

    def _add(self, text: str, kind: str) -> None:
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(text, self._outline.path, kind))  # type: ignore[arg-type]

    def _take_notes(self) -> None:
        noted, self._reader.notes = self._reader.notes, []
        self._pending += [text for note in noted if (text := self._notes.get(note, ""))]

    def _flush_notes(self) -> None:
        """Notes stand behind the block that refers to them."""
        pending, self._pending = self._pending, []
        for text in pending:
            self._add(text, "text")


def _items(element: _Element, depth: int) -> Iterator[_Element]:
    """Paragraphs and tables in order, those inside content controls and insertions too."""
    for item in element:
        if item.tag in (f"{W}p", f"{W}tbl"):
            yield item
        elif item.tag in _AROUND and depth < _DEEPEST:
            yield from _items(item, depth + 1)


def _notes(package: Package, part: str) -> dict[tuple[str, str], str]:
    """Texts of foot- and endnotes by kind and id."""
    found: dict[tuple[str, str], str] = {}
    for kind in ("footnote", "endnote"):
        reader = Reader({})
        for note in children(package.related(part, f"{kind}s"), kind):
            if note.get(f"{W}type", "normal") == "normal":
                found[kind, note.get(f"{W}id", "")] = fold(
                    " ".join(reader.text(paragraph) for paragraph in children(note, "p"))
                )
    return found


def _told(core: _Element | None, tag: str) -> str:
    found = core.find(tag) if core is not None else None
    return fold(found.text or "")[:300] if found is not None else ""


def _first_heading(blocks: tuple[Block, ...]) -> str:
    return next((block.heading_path[0] for block in blocks if block.heading_path), "")


def _name_in(url: str) -> str:
    return unquote(urlsplit(url).path.rpartition("/")[2])
