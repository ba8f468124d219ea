"""Content type -> extractor: bytes in, a Page and what the page asks of crawlers out.

A new extractor is one file with a function `extract(source) -> Extraction` and one row in
EXTRACTORS. Extractors are pure: they fetch nothing and keep nothing, so they run in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from crawler.extractors.limits import FileLimits
from crawler.page import Page

__all__ = ["EXTRACTORS", "Extraction", "Extractor", "FileLimits", "Source", "content_type_of", "extract"]


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_USUAL = FileLimits()


@dataclass(frozen=True, slots=True)
class Source:
    """What a server sent for one URL."""

    url: str
    """Canonical address, after redirects."""
    body: bytes
    content_type: str = "text/html"
    """Media type, lower case, without parameters."""
    charset: str = ""
    """As the Content-Type header says; empty when it does not."""
    language: str = ""
    """As the Content-Language header says; empty when it does not."""
    etag: str = ""
    last_modified: str = ""
    hash_routes: bool = False
    """Whether links that differ behind "#/" or "#!" lead to different pages."""
    limits: FileLimits = _USUAL
    """What reading a file (PDF, DOCX) may cost."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """A page and the wishes that stand in its markup."""

    page: Page
    follow: tuple[str, ...] = ()
    """Addresses to crawl next: `page.links` without rel=nofollow, with frames and alternates."""
    canonical: str = ""
    """rel=canonical, absolute and canonical; empty when absent or unusable."""
    refresh: str = ""
    """Where a meta refresh of a few seconds leads; empty when there is none."""
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    """RSS, Atom and JSON feeds that the page names, absolute and canonical."""
    remark: str = ""
    """What was left out of a file that was read, in words for the operator; mostly empty."""


Extractor = Callable[[Source], Extraction]

EXTRACTORS: dict[str, str] = {
    "text/html": "crawler.extractors.html:extract",
    "application/xhtml+xml": "crawler.extractors.html:extract",
    "text/plain": "crawler.extractors.plain:extract",
    "text/markdown": "crawler.extractors.markdown:extract",
    "application/pdf": "crawler.extractors.pdf:extract",
    DOCX: "crawler.extractors.docx:extract",
}

_BY_SUFFIX = {
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "txt": "text/plain",
    "text": "text/plain",
    "pdf": "application/pdf",
    "docx": DOCX,
}
SUFFIXES = frozenset(_BY_SUFFIX)
"""Of files that can be read, lower case, without the dot."""
_SAME_AS = {
    "text/x-markdown": "text/markdown",
    "text/md": "text/markdown",
    "application/x-pdf": "application/pdf",
}
_UNTOLD = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/binary",
        "application/x-download",
        "application/force-download",
        "application/zip",
        "application/msword",
        "unknown/unknown",
    }
)
"""Types by which servers say that they do not know."""


def content_type_of(url: str, content_type: str, body: bytes = b"") -> str:
    """The media type to read an answer as: as declared, else by the suffix of the path, else by its
    first bytes; `content_type` itself when none of them names one that is read."""
    declared = _SAME_AS.get(content_type, content_type)
    named = _BY_SUFFIX.get(suffix_of(url), "")
    if declared == "text/plain" and named == "text/markdown":
        return named  # most servers do not know Markdown
    if declared in EXTRACTORS or declared not in _UNTOLD:
        return declared
    if body.startswith(b"%PDF-"):
        return "application/pdf"
    if named:
        return named
    return "text/html" if not declared and body.lstrip()[:1] == b"<" else declared


def suffix_of(url: str) -> str:
    """What stands behind the last dot of a path's last part, lower case: "docx"; empty without one."""
    name = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def extractor_for(content_type: str) -> Extractor | None:
    """The extractor of a media type, imported on first use; None when nobody reads that type."""
    path = EXTRACTORS.get(content_type)
    if path is None:
        return None
    module, _, name = path.partition(":")
    found: Extractor = getattr(import_module(module), name)
    return found


def extract(source: Source) -> Extraction:
    """Reads `source` with the extractor of its type; KeyError when there is none."""
    extractor = extractor_for(source.content_type)
    if extractor is None:
        raise KeyError(source.content_type)
    return extractor(source)
