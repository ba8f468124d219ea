"""Sitemaps: addresses that the site itself lists."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from crawler import urls
from crawler.errors import FetchError
from crawler.fetcher import Fetcher
from crawler.robots import Robots

LARGEST = 50 * 1024 * 1024
"""Bytes of one file, decompressed; the protocol's own limit."""
_MOST_FILES = 200
_MOST_URLS_A_FILE = 50_000


@dataclass(slots=True)
class Sitemap:
    """What one file holds."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def listed_urls(start: str, robots: Robots, fetcher: Fetcher) -> Iterator[str]:
    """Canonical addresses from all sitemaps of the start's site, each file read once.

    Files that cannot be read are passed over: links lead to the same pages.
    """
    if robots.verdict(start).unreachable:
        return
    waiting = robots.sitemaps(start) or [f"{urls.origin(start)}/sitemap.xml"]
    read: set[str] = set()
    site = urls.site_key(start)
    while waiting and len(read) < _MOST_FILES:
        address = waiting.pop(0)
        if address in read or urls.site_key(address) != site:
            continue
        read.add(address)
        try:
            reply = fetcher.get_following(address, max_bytes=LARGEST)
        except FetchError:
            continue
        if reply.status != 200:
            continue
        found = parse(reply.body)
        waiting += [child for child in map(urls.canonical, found.sitemaps) if child]
        yield from (page for page in map(urls.canonical, found.pages) if page)


def parse(body: bytes) -> Sitemap:
    """Reads XML (sitemap, index, or a feed's links), gzipped or not, and plain lists of addresses.

    XML is read without entities, DTDs and network; what is broken is read as far as it goes.
    """
    content = _unpacked(body)
    found = Sitemap()
    if content.lstrip()[:1] != b"<":
        lines = content.decode("utf-8", "replace").split()
        found.pages = [line for line in lines[:_MOST_URLS_A_FILE] if line.startswith(("http://", "https://"))]
        return found
    parser = etree.XMLPullParser(
        events=("end",),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=False,
    )
    try:
        parser.feed(content)
        parser.close()
    except etree.XMLSyntaxError:
        pass  # what came before the fault is still of use
    for _, element in parser.read_events():
        if len(found.pages) >= _MOST_URLS_A_FILE:
            break
        if isinstance(element, etree._Element):
            _take(element, found)
    return found


def _take(element: etree._Element, found: Sitemap) -> None:
    tag = etree.QName(element).localname if isinstance(element.tag, str) else ""
    if tag != "loc" or not element.text:
        return
    parent = element.getparent()
    kind = etree.QName(parent).localname if parent is not None else ""
    if kind == "sitemap":
        found.sitemaps.append(element.text.strip())
    elif kind == "url":
        found.pages.append(element.text.strip())


def _unpacked(body: bytes) -> bytes:
    """Gunzipped, up to the limit: a bomb goes off in a bucket."""
    if body[:2] != b"\x1f\x8b":
        return body
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(body, LARGEST)
    except zlib.error:
        return b""
