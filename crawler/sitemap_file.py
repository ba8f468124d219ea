"""One sitemap file, read piece by piece: XML, an index, a feed, or a plain list; gzipped or not.

XML is read without entities, DTDs and network; what is broken is read as far as it goes.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

PAGE, SITEMAP = "page", "sitemap"
_PIECE = 65_536
_LONGEST_ADDRESS = 4096
_ENTRIES = frozenset({"url", "sitemap", "item", "entry"})
_CHANGED = frozenset({"lastmod", "updated", "pubDate", "date", "published"})
_NO_HEADING = (b"<!doctype html", b"<html")


@dataclass(frozen=True, slots=True)
class Listing:
    """An address as it stands in the file."""

    address: str
    lastmod: str = ""
    kind: str = PAGE


def entries(body: bytes, most: int, largest: int) -> Generator[Listing, None, str]:
    """At most `most` entries from at most `largest` bytes, unpacked; returns what went wrong, if anything."""
    unpacking = _Unpacking(body, largest)
    pieces = iter(unpacking)
    first = next(pieces, b"")
    beginning = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if not beginning:
        return unpacking.problem or "the file is empty"
    if beginning.startswith(_NO_HEADING):
        return "it is a web page, not a sitemap"
    is_xml = beginning.startswith((b"<", b"\xff\xfe", b"\xfe\xff"))
    found = _from_xml(first, pieces) if is_xml else _from_lines(first, pieces)
    number = 0
    problem = ""
    while True:
        try:
            listing = next(found)
        except StopIteration as end:
            problem = str(end.value or "")
            break
        if number >= most:
            return f"more than {most} entries; the rest was not read"
        number += 1
        yield listing
    return unpacking.problem or problem


class _Unpacking:
    """Gunzips in small pieces up to the limit: a bomb goes off in a bucket."""

    def __init__(self, body: bytes, largest: int) -> None:
        self._body = body
        self._left = largest
        self.problem = ""

    def __iter__(self) -> Iterator[bytes]:
        if self._body[:2] != b"\x1f\x8b":
            for start in range(0, min(len(self._body), self._left), _PIECE):
                yield self._body[start : min(start + _PIECE, self._left)]
            if len(self._body) > self._left:
                self._too_large()
            return
        unpacker, rest = zlib.decompressobj(wbits=31), self._body
        try:
            while rest and self._left > 0:
                piece = unpacker.decompress(rest, min(_PIECE, self._left))
                self._left -= len(piece)
                if piece:
                    yield piece
                rest = unpacker.unconsumed_tail
                if unpacker.eof and unpacker.unused_data[:2] == b"\x1f\x8b":
                    unpacker, rest = zlib.decompressobj(wbits=31), unpacker.unused_data
        except zlib.error:
            self.problem = "it is not proper gzip"
            return
        if rest:
            self._too_large()
        elif not unpacker.eof:
            self.problem = "its gzip data is cut off"

    def _too_large(self) -> None:
        self.problem = "it is larger than the limit; the rest was not read"


def _from_lines(first: bytes, pieces: Iterator[bytes]) -> Generator[Listing, None, str]:
    rest, found = b"", False
    for piece in (first, *pieces):
        *lines, rest = (rest + piece).split(b"\n")
        rest = rest[-_LONGEST_ADDRESS:]
        for listing in map(_line, lines):
            if listing:
                found = True
                yield listing
    last = _line(rest)
    if last:
        yield last
    return "" if found or last else "it is neither XML nor a list of addresses"


def _line(line: bytes) -> Listing | None:
    address = line.strip(b"\xef\xbb\xbf \t\r").decode("utf-8", "replace")
    fits = address.startswith(("http://", "https://")) and len(address) <= _LONGEST_ADDRESS
    return Listing(address) if fits else None


def _from_xml(first: bytes, pieces: Iterator[bytes]) -> Generator[Listing, None, str]:
    parser = etree.XMLPullParser(
        events=("end",),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    known = False
    try:
        piece: bytes | None = first
        while piece is not None:
            parser.feed(piece)
            for _, element in parser.read_events():
                for listing in _taken(element):
                    known = True
                    yield listing
            piece = next(pieces, None)
        parser.close()
        broken = len(parser.feed_error_log) > 0
    except etree.LxmlError:
        broken = True
    if broken:
        return "its XML is broken; the rest was read" if known else "its XML is broken"
    return "" if known else "it lists no addresses"


def _taken(element: Any) -> Iterator[Listing]:
    """The addresses of an entry that just ended; then it is forgotten, so that no tree grows."""
    if not isinstance(element.tag, str) or _name(element) not in _ENTRIES:
        return
    kind = SITEMAP if _name(element) == "sitemap" else PAGE
    addresses = [_address(part) for part in element]
    changed = ((part.text or "").strip() for part in element if _name(part) in _CHANGED)
    lastmod = next(changed, "")[:40]
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]
    for found in dict.fromkeys(addresses):
        if found and len(found) <= _LONGEST_ADDRESS:
            yield Listing(found, lastmod, kind)


def _address(part: Any) -> str:
    """Where an entry's part leads: itself, or the page in another language."""
    name, text = _name(part), (part.text or "").strip()
    if name == "loc" or (name == "link" and text):
        return str(text)
    if name == "link" and (part.get("hreflang") or part.get("rel", "alternate") == "alternate"):
        return str(part.get("href") or "").strip()
    return ""


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
