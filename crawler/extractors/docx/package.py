"""The parts of a DOCX file: a zip archive of XML, opened with limits against hostile files."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from lxml import etree
from lxml.etree import _Element

from crawler.errors import BadFile
from crawler.unpacking import is_bounded

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", W[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/relationships", R_ID[1:-3].encode()),
)
"""Namespaces of the strict variant of the format, and their usual names."""
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_PARTS = 10_000
_MOST_TAGS = 1_500_000
"""Limit for one part; a document of a thousand pages has about a third of it."""
_MOST_QUOTES = 6_000_000


@dataclass(frozen=True, slots=True)
class Relation:
    """A reference of a part to another part or an address."""

    kind: str
    """Last word of its type: "hyperlink", "styles"."""
    target: str
    """Address, or name of a part."""
    external: bool


class Package:
    """The zip archive of a DOCX file.

    It checks sizes before and while it unpacks, and parses XML without entities, document types or network.
    """

    def __init__(self, body: bytes, most_bytes: int) -> None:
        """Open the archive. Raises BadFile."""
        if body.startswith(_OLE):
            raise BadFile("it is protected by a password, or in the format of Word 97")
        self._left = most_bytes
        try:
            self._zip = ZipFile(BytesIO(body))
            entries = self._zip.infolist()
        except (BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise BadFile(f"it is damaged or no DOCX file ({error})") from error
        if len(entries) > _MOST_PARTS or sum(entry.file_size for entry in entries) > 8 * most_bytes:
            raise BadFile("it unpacks to more than the limit")
        if not all(map(is_bounded, entries)):
            raise BadFile("it is compressed in a way that no word processor uses")
        self._names = {entry.filename.lstrip("/").lower(): entry.filename for entry in entries}

    def close(self) -> None:
        self._zip.close()

    def document(self) -> str:
        """Name of the main part. Raises BadFile."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument":
                return relation.target
        if "word/document.xml" in self._names:
            return "word/document.xml"
        raise BadFile("it is no DOCX file: it has no document inside")

    def relations(self, part: str) -> dict[str, Relation]:
        """The references of `part`, by id."""
        folder, _, name = part.rpartition("/")
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = {}
        for entry in root.iter(_RELATION) if root is not None else ():
            external = entry.get("TargetMode", "") == "External"
            target = entry.get("Target", "")
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = entry.get("Type", "").rpartition("/")[2]
            found[entry.get("Id", "")] = Relation(kind, target, external)
        return found

    def related(self, part: str, kind: str) -> _Element | None:
        """The XML of the part that `part` refers to as its `kind`; None without one."""
        for relation in self.relations(part).values():
            if relation.kind == kind and not relation.external:
                return self.xml(relation.target)
        return None

    def xml(self, name: str) -> _Element | None:
        """A part's root; None for a part that does not exist. Raises BadFile."""
        stored = self._names.get(name.lower())
        if stored is None:
            return None
        data = self._unpacked(stored)
        # A tree takes many times the memory of its text, depending on elements and attributes.
        if data.count(b"<") > _MOST_TAGS or data.count(b'"') + data.count(b"'") > _MOST_QUOTES:
            raise BadFile(f"its part {name} has more elements than the limit")
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise BadFile(f"its part {name} is damaged ({error})") from error
        if getattr(root.getroottree().docinfo, "internalDTD", None) is not None:
            raise BadFile(f"its part {name} has a document type, which no word processor writes")
        return root

    def _unpacked(self, stored: str) -> bytes:
        try:
            with self._zip.open(stored) as part:
                data = part.read(self._left + 1)
        except (BadZipFile, zlib.error, RuntimeError, ValueError, EOFError, OSError) as error:
            raise BadFile(f"its part {stored} is damaged or protected ({error})") from error
        self._left -= len(data)
        if self._left < 0:
            raise BadFile("it unpacks to more than the limit")
        return data


def children(element: _Element | None, *names: str) -> Iterator[_Element]:
    """Direct children with one of these names of WordprocessingML."""
    if element is not None:
        yield from element.iterchildren(*(W + name for name in names))


def child(element: _Element | None, *path: str) -> _Element | None:
    """The first child of the first child …; None if one is missing."""
    for name in path:
        if element is None:
            return None
        element = element.find(W + name)
    return element


def value(element: _Element | None, *path: str) -> str:
    """The w:val of the element at `path`; empty without one."""
    found = child(element, *path)
    return found.get(f"{W}val", "") if found is not None else ""
