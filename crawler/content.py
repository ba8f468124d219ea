"""From what a server answered to what the page says: in the browser too, when its scripts bring the text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crawler.app_shells import needs_rendering
from crawler.errors import CrawlError, FetchError
from crawler.extractors import EXTRACTORS, Extraction, FileLimits, Source, content_type_of
from crawler.fetcher import Reply
from crawler.options import CrawlOptions
from crawler.reading import PageReader
from crawler.renderer import Renderer

_HTML = frozenset({"text/html", "application/xhtml+xml"})


class Unsupported(CrawlError):
    """Nothing that is read here. The message says what it is."""


@dataclass(frozen=True, slots=True)
class Content:
    """What was read, and what the operator should know of how."""

    found: Extraction
    remark: str = ""
    """Why there is less than one would see in a browser; mostly empty."""


class ContentReader:
    """Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, reader: PageReader, renderer: Renderer) -> None:
        self._options = options
        self._reader = reader
        self._renderer = renderer
        self._limits = FileLimits(
            pages=options.max_file_pages,
            seconds=options.max_file_s,
            unpacked_bytes=options.max_unpacked_bytes,
        )

    def read(self, reply: Reply) -> Content:
        """Raises Unsupported, and Unreadable for what defeats its extractor."""
        source = self._source(reply)
        if source.content_type not in EXTRACTORS:
            kind = source.content_type or "unknown"
            raise Unsupported(f"its type is {kind}, not a web page")
        found = self._reader.read(source)
        if source.content_type not in _HTML or self._options.render == "never":
            return Content(found, found.remark)
        if self._options.render == "auto" and not needs_rendering(reply.body, found.page):
            return Content(found, found.remark)
        try:
            rendered = self._renderer.render(reply.url, reply)
        except FetchError as error:
            if error.kind == "stopped":
                raise
            return Content(found, f"it needs a browser: {error}")
        return Content(self._reader.read(replace(source, body=rendered, charset="utf-8")))

    def _source(self, reply: Reply) -> Source:
        return Source(
            url=reply.url,
            body=reply.body,
            content_type=content_type_of(reply.url, reply.content_type, reply.body),
            charset=reply.charset,
            language=reply.headers.get("content-language", ""),
            etag=reply.headers.get("etag", ""),
            last_modified=reply.headers.get("last-modified", ""),
            limits=self._limits,
            hash_routes=self._options.hash_routes,
        )


def is_readable(reply: Reply) -> bool:
    """Whether the headers promise something that is read here: only then is the body fetched."""
    return not reply.content_type or content_type_of(reply.url, reply.content_type) in EXTRACTORS
