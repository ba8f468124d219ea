"""Sitemaps: addresses that the site itself lists.

A sitemap file is read piece by piece: XML, an index, a feed, or a plain list, gzipped or not. XML is read
without entities, DTDs and network; a broken file is read as far as possible.

All files of a crawl share one budget of files, unpacked bytes and answering time, so an endless index ends.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from lxml import etree

from crawler.discovery import urls
from crawler.errors import BadFile, FetchError
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.fetching.robots import Robots
from crawler.options import CrawlOptions

_MOST = 1000
_LARGEST = 10 * 1024 * 1024


@dataclass(eq=False)
class Feeds:
    """Reads the feeds that pages name, each once. Safe to use from many threads."""

    _options: CrawlOptions
    _robots: Robots
    _fetcher: Fetcher
    _wait: Callable[[str], bool]
    """Returns when the crawler may request an address; False after the crawl was stopped."""

    def __post_init__(self) -> None:
        self._left = self._options.max_feeds
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def listed(self, feeds: Iterable[str]) -> Iterator[str]:
        """Yield the addresses in those feeds that were not read before; some may be on other sites.

        Skips feeds that cannot be read: their entries are linked from pages too.
        """
        for feed in feeds:
            with self._lock:
                if feed in self._seen or self._left <= 0:
                    continue
                self._seen.add(feed)
                self._left -= 1
            if self._robots.verdict(feed).allowed and self._wait(feed):
                yield from self._read(feed)

    def _read(self, feed: str) -> list[str]:
        try:
            reply = self._fetcher.get_following(feed)
        except FetchError:
            return []
        return feed_urls(reply.body, reply.content_type, reply.url) if reply.status == 200 else []


def feed_urls(body: bytes, content_type: str, base: str) -> list[str]:
    """Return the canonical addresses of the feed's entries, each once; none if it is no feed. Never fails.

    `content_type` may be wrong or empty, as it often is; `base` is the feed's own address.
    """
    is_json = "json" in content_type or body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
    written = _of_json(body) if is_json else [entry.address for entry in entries(body, _MOST, _LARGEST)]
    found = (urls.canonical(address, base) for address in written)
    return list(dict.fromkeys(url for url in found if url))


def _of_json(body: bytes) -> list[str]:
    try:
        value = json.loads(body[:_LARGEST])
    except (ValueError, RecursionError):
        return []
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return []
    named = [item.get("url") or item.get("external_url") for item in items[:_MOST] if isinstance(item, dict)]
    return [address for address in named if isinstance(address, str)]


_USUAL_PLACES = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt")
"""Tried one after the other until one exists, unless robots.txt names a sitemap."""
_MOST_WAITING = 50_000
_DEEPEST_INDEX = 5
"""Indexes inside indexes; the protocol knows one level."""
_MOST_IN_VAIN = 20
"""Files in a row that list no address of the site, or cannot be read: then the others are not read either."""
_PIECE = 65_536
_PACKED = 4096
"""Bytes that are unpacked at once. What is left of them is copied for each part of a file of many parts."""
_GZIP = b"\x1f\x8b"
_LONGEST_ADDRESS = 4096
_ENTRIES = frozenset({"url", "sitemap", "item", "entry"})
_NO_HEADING = (b"<!doctype html", b"<html")


@dataclass(eq=False)
class Sitemaps:
    """Reads all sitemaps of a site, each file once, none in memory as a whole tree."""

    _options: CrawlOptions
    _robots: Robots
    _fetcher: Fetcher
    _wait: Callable[[str], bool] = lambda url: True
    """Returns when the crawler may request an address; False if it may not request it any more."""
    _files: int = 0
    _bytes: int = 0
    _seconds: float = 0.0
    _in_vain: int = 0
    is_cut_off: bool = False
    """Whether files were left out, for a limit or because the crawler may not request them any more."""
    problems: list[str] = field(default_factory=list)
    """What could not be read of the files that the site names, in words for the operator. Links may lead to
    the same pages."""

    def listed(self, start: str, belongs: Callable[[str], bool] | None = None) -> Iterator[str]:
        """Yield the canonical addresses that belong to the site (by default: that of the start address).

        An address may come more than once. Addresses and files of other sites are left out. A copy of a site,
        such as one for tests, names the site itself: where robots.txt names only files of one other site, the
        same files are looked for here, and what they list of that site is taken to be here.
        """
        if self._robots.verdict(start).unreachable:
            return
        site = urls.site_key(start)
        belongs = belongs or (lambda url: urls.site_key(url) == site)
        named = self._robots.sitemaps(start)
        foreign = [address for address in named if not belongs(address)]
        is_copy = len(foreign) == len(named) and len({urls.origin(address) for address in foreign}) == 1
        original = urls.site_key(foreign[0]) if is_copy else ""
        here = urls.origin(start)
        copied = [here + urls.path_and_query(address) for address in foreign if is_copy]
        guessed = copied or ([] if named else [here + path for path in _USUAL_PLACES])
        self.problems += [f"{address}: on another site, so it was not read" for address in foreign]
        waiting = deque((address, 0) for address in guessed or named if address not in foreign)
        seen = {address for address, _ in waiting}
        while waiting:
            address, depth = waiting.popleft()
            if limit := self._limit_reached():
                self.is_cut_off = True
                problem = f"not read, and others, for {limit}"
                self._note(address, problem, guessed=bool(guessed) and not copied)
                return
            self._in_vain += address not in guessed
            for listing in self._read(address, guessed=address in guessed):
                if guessed and not copied:  # the place was found, no need to look further
                    waiting.clear()
                    guessed = []
                url = urls.canonical(listing.address)
                if url and urls.site_key(url) == original:
                    url = here + urls.path_and_query(url)
                if url is None or not belongs(url):
                    continue
                if not listing.is_sitemap:
                    self._in_vain = 0
                    yield url
                elif url not in seen and len(seen) < _MOST_WAITING and depth < _DEEPEST_INDEX:
                    seen.add(url)
                    waiting.append((url, depth + 1))

    def _limit_reached(self) -> str:
        """Return why no further file is read; empty while the budget lasts."""
        options = self._options
        if self._files >= options.sitemap_max_files:
            return f"there are more than {options.sitemap_max_files} files"
        if self._bytes >= options.sitemap_total_bytes:
            return f"the files before it held {options.sitemap_total_bytes:,} bytes"
        if self._seconds >= options.sitemap_total_s:
            return f"the files before it took {options.sitemap_total_s:g} s"
        if self._in_vain >= _MOST_IN_VAIN:
            return f"{_MOST_IN_VAIN} files in a row listed no address of the site"
        return ""

    def _read(self, address: str, *, guessed: bool) -> Generator[ListedAddress, None, None]:
        self._files += 1
        largest = min(self._options.sitemap_max_bytes, self._options.sitemap_total_bytes - self._bytes)
        problem = ""
        try:
            reply = self._fetch(address, largest)
        except BadFile as error:
            reply, problem = None, str(error)
        if reply is not None:
            problem, unpacked = yield from entries(reply.body, self._options.sitemap_max_urls, largest)
            self._bytes += unpacked
        self._note(address, problem, guessed=guessed)

    def _note(self, address: str, problem: str, *, guessed: bool) -> None:
        """Report a problem with a file, unless the site never named the file."""
        if problem and not guessed:
            self.problems.append(f"{address}: {problem}")

    def _fetch(self, address: str, largest: int) -> HttpResponse | None:
        """Return the file; None if the crawler may not request it any more. Raises BadFile."""
        verdict = self._robots.verdict(address)
        if not verdict.allowed and address not in self._robots.sitemaps(address):
            raise BadFile(verdict.reason)
        if not self._wait(address):
            self.is_cut_off = True
            return None
        began = time.monotonic()
        try:
            reply = self._fetcher.get_following(address, max_bytes=largest)
        except FetchError as error:
            is_spent = error.kind == "too_large" and largest < self._options.sitemap_max_bytes
            self._bytes += largest if is_spent else len(error.received)
            raise BadFile(str(error)) from error
        finally:
            self._seconds += time.monotonic() - began
        if reply.status != 200:
            raise BadFile(f"status {reply.status}")
        return reply


@dataclass(frozen=True, slots=True)
class ListedAddress:
    """An address as written in the file."""

    address: str
    is_sitemap: bool = False


def entries(body: bytes, most: int, largest: int) -> Generator[ListedAddress, None, tuple[str, int]]:
    """Yield at most `most` entries from at most `largest` unpacked bytes.

    Return what was wrong with the file, in words for the operator, and how many bytes were looked at.
    """
    file = _Unpacking(body, largest)
    for number, listing in enumerate(_entries(file)):
        if number >= most:
            file.problem = f"more than {most} entries; the rest was not read"
            break
        yield listing
    return file.problem, file.done


def _entries(file: _Unpacking) -> Iterator[ListedAddress]:
    pieces = iter(file)
    first = next(pieces, b"")
    beginning = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if not beginning:
        file.failed("the file is empty")
    elif beginning.startswith(_NO_HEADING):
        file.problem = "it is a web page, not a sitemap"
    else:
        is_xml = beginning.startswith((b"<", b"\xff\xfe", b"\xfe\xff"))
        yield from (_from_xml if is_xml else _from_lines)(file, chain((first,), pieces))


class _Unpacking:
    """Gunzip in small pieces, up to the limit."""

    def __init__(self, body: bytes, largest: int) -> None:
        self._body = body
        self._largest = largest
        self.done = 0
        """Bytes handed out so far."""
        self.problem = ""

    def failed(self, problem: str) -> None:
        """Note what is wrong with the file; the first fault explains the others."""
        self.problem = self.problem or problem

    def __iter__(self) -> Iterator[bytes]:
        if self._body[:2] != _GZIP:
            for start in range(0, min(len(self._body), self._largest), _PIECE):
                piece = self._body[start : min(start + _PIECE, self._largest)]
                self.done += len(piece)
                yield piece
            if len(self._body) > self._largest:
                self._too_large()
        else:
            yield from self._unpacked()

    def _unpacked(self) -> Iterator[bytes]:
        unpacker, at = zlib.decompressobj(wbits=31), 0
        try:
            while at < len(self._body) and self.done < self._largest:
                packed = self._body[at : at + _PACKED]
                piece = unpacker.decompress(packed, min(_PIECE, self._largest - self.done))
                self.done += len(piece)
                if piece:
                    yield piece
                at += len(packed) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
                if unpacker.eof:
                    if self._body[at : at + 2] != _GZIP:
                        return  # what follows the last part is ignored
                    unpacker = zlib.decompressobj(wbits=31)
        except zlib.error:
            self.problem = "it is not proper gzip"
            return
        if at < len(self._body):
            self._too_large()
        elif not unpacker.eof:
            self.problem = "its gzip data is cut off"

    def _too_large(self) -> None:
        self.problem = "it is larger than the limit; the rest was not read"


def _from_lines(file: _Unpacking, pieces: Iterable[bytes]) -> Iterator[ListedAddress]:
    rest, found = b"", False
    for piece in chain(pieces, (b"\n",)):
        *lines, rest = (rest + piece).split(b"\n")
        rest = rest[-_LONGEST_ADDRESS:]
        for listing in filter(None, map(_line, lines)):
            found = True
            yield listing
    if not found:
        file.failed("it is neither XML nor a list of addresses")


def _line(line: bytes) -> ListedAddress | None:
    address = line.strip(b"\xef\xbb\xbf \t\r").decode("utf-8", "replace")
    fits = address.startswith(("http://", "https://")) and len(address) <= _LONGEST_ADDRESS
    return ListedAddress(address) if fits else None


def _from_xml(file: _Unpacking, pieces: Iterable[bytes]) -> Iterator[ListedAddress]:
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
        for piece in pieces:
            parser.feed(piece)
            for _, element in parser.read_events():
                for listing in _taken(element):
                    known = True
                    yield listing
        parser.close()
        broken = len(parser.feed_error_log) > 0
    except etree.LxmlError:
        broken = True
    if broken:
        file.failed("its XML is broken; the rest was read" if known else "its XML is broken")
    elif not known:
        file.failed("it lists no addresses")


def _taken(element: Any) -> Iterator[ListedAddress]:
    """Yield the addresses of an entry that just ended, and drop the entry so that no tree grows."""
    if not isinstance(element.tag, str) or _name(element) not in _ENTRIES:
        return
    is_sitemap = _name(element) == "sitemap"
    addresses = [_address(part) for part in element]
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]
    for found in dict.fromkeys(addresses):
        if found and len(found) <= _LONGEST_ADDRESS:
            yield ListedAddress(found, is_sitemap)


def _address(part: Any) -> str:
    """Return the address in a part of an entry: the entry's own, or the page in another language."""
    name, text = _name(part), (part.text or "").strip()
    if name == "loc" or (name == "link" and text):
        return str(text)
    if name == "link" and (part.get("hreflang") or part.get("rel", "alternate") == "alternate"):
        return str(part.get("href") or "").strip()
    return ""


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
