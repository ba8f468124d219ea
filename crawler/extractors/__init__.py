"""Content type -> extractor: bytes in, a Page and what the page asks of crawlers out.

A new extractor is one file with a function `extract(source) -> Extraction` and one row in
EXTRACTORS. Extractors are pure: they fetch nothing and keep nothing, so they run in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from crawler.page import Page


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


Extractor = Callable[[Source], Extraction]

EXTRACTORS: dict[str, str] = {
    "text/html": "crawler.extractors.html:extract",
    "application/xhtml+xml": "crawler.extractors.html:extract",
    "text/plain": "crawler.extractors.plain:extract",
    "text/markdown": "crawler.extractors.plain:extract",
}


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
