"""Table of extractors by content type. An extractor turns bytes into a Page and its wishes for crawlers.

A new extractor is one file with a function `extract(source) -> Extraction` and one row in
EXTRACTORS. Extractors are pure: they fetch nothing and keep nothing, so they run in any process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pkgutil import resolve_name

from crawler.errors import BadFile
from crawler.judging.page_kinds import date_of
from crawler.judging.variants import variant_group
from crawler.limits import FileLimits
from crawler.page import Block, Page, content_hash
from crawler.wordset import wordset

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The answer of a server to a request for one URL."""

    url: str
    """Canonical address, after redirects."""
    body: bytes
    content_type: str = "text/html"
    """Media type, lower case, without parameters."""
    charset: str = ""
    """From the Content-Type header; empty without one."""
    language: str = ""
    """From the Content-Language header; empty without one."""
    etag: str = ""
    last_modified: str = ""
    hash_routes: bool = False
    """Whether links that differ only after "#/" or "#!" lead to different pages."""
    limits: FileLimits = field(default_factory=FileLimits)
    """Limits for PDF, DOCX and Markdown files."""

    def page(self, title: str, language: str, blocks: tuple[Block, ...], links: tuple[str, ...] = ()) -> Page:
        """The page made of this source, with its address, validators and content hash."""
        return Page(
            url=self.url,
            title=title,
            language=language,
            blocks=blocks,
            links=links,
            content_hash=content_hash(title, blocks),
            etag=self.etag,
            last_modified=self.last_modified,
            dated=date_of(self.url, {}, ()),
            variant_group=variant_group(self.url, language, ()),
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """A page, and the instructions for crawlers in its markup."""

    page: Page
    follow: tuple[str, ...] = ()
    """Addresses to crawl next: `page.links` without rel=nofollow, with frames and alternates."""
    canonical: str = ""
    """rel=canonical, absolute and canonical; empty when absent or unusable."""
    refresh: str = ""
    """Target of a meta refresh of a few seconds; empty without one."""
    noindex: bool = False
    nofollow: bool = False
    feeds: tuple[str, ...] = ()
    """RSS, Atom and JSON feeds that the page names, absolute and canonical."""
    remark: str = ""
    """What was left out of the file, in words for the operator; mostly empty."""


Extractor = Callable[[SourceDocument], Extraction]

EXTRACTORS: dict[str, str] = {
    "text/html": "crawler.extractors.html.extractor:extract",
    "application/xhtml+xml": "crawler.extractors.html.extractor:extract",
    "text/plain": "crawler.extractors.plain:extract",
    "text/markdown": "crawler.extractors.markdown:extract",
    "application/pdf": "crawler.extractors.pdf.extractor:extract",
    DOCX: "crawler.extractors.docx.extractor:extract",
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
"""Suffixes of readable files, lower case, without the dot."""
_SAME_AS = {
    "text/x-markdown": "text/markdown",
    "text/md": "text/markdown",
    "application/x-pdf": "application/pdf",
}
_UNSPECIFIC = wordset("extractors.unspecific_types") | {""}
"""Types that servers send when they do not know the type."""


def content_type_of(url: str, content_type: str, body: bytes = b"") -> str:
    """The media type of an answer: as declared, else by the suffix of the path, else by its first bytes;
    `content_type` itself if none of them is a type with an extractor."""
    declared = _SAME_AS.get(content_type, content_type)
    named = _BY_SUFFIX.get(suffix_of(url), "")
    if declared == "text/plain" and named == "text/markdown":
        return named  # most servers do not know Markdown
    if declared in EXTRACTORS or declared not in _UNSPECIFIC:
        return declared
    if body.startswith(b"%PDF-"):
        return "application/pdf"
    if named:
        return named
    return "text/html" if not declared and body.lstrip()[:1] == b"<" else declared


def suffix_of(url: str) -> str:
    """Suffix of the last part of the path, lower case: "docx"; empty without one."""
    name = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def extractor_for(content_type: str) -> Extractor | None:
    """The extractor of a media type, imported on first use; None for an unknown type."""
    path = EXTRACTORS.get(content_type)
    found: Extractor | None = resolve_name(path) if path else None
    return found


def extract(source: SourceDocument) -> Extraction:
    """Read `source` with the extractor of its type. Raises BadFile, and KeyError for an unknown type."""
    extractor = extractor_for(source.content_type)
    if extractor is None:
        raise KeyError(source.content_type)
    try:
        return extractor(source)
    except RecursionError:
        raise BadFile("its parts are nested too deeply") from None
