"""One file, by its name and bytes, to its outcome: a page, or the reason why it is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from crawler.errors import BadFile
from crawler.extractors import EXTRACTORS, SUFFIXES, FileLimits, Source, content_type_of, extract, suffix_of
from crawler.page import Page, content_hash
from crawler.report import UrlOutcome, UrlState
from crawler.sources.anchors import anchored

READER = 1
"""Goes up when files are read in another way, so that those that did not change are read again."""


def is_readable(name: str) -> bool:
    """Whether files of this name's kind can be read."""
    return suffix_of(name) in SUFFIXES


def not_readable(name: str) -> str:
    """What is wrong with the kind of a file, in words for the operator."""
    suffix = suffix_of(name)
    kind = f"a .{suffix} file" if suffix else "a file without a suffix"
    return f"{kind}: only HTML, Markdown, text, PDF and DOCX files are read"


def media_type_of(name: str) -> str:
    """The media type of a file, by its name; empty when it cannot be read."""
    found = content_type_of(name, "")
    return found if found in EXTRACTORS else ""


def read_file(name: str, body: bytes, url: str, limits: FileLimits | None = None) -> UrlOutcome:
    """The page at `url`; every heading of it has an anchor, unless the file gives one itself."""
    media_type = media_type_of(name)
    if not media_type:
        return UrlOutcome(url, UrlState.UNSUPPORTED, not_readable(name))
    try:
        found = extract(Source(url, body, media_type, limits=limits or FileLimits()))
    except BadFile as error:
        return UrlOutcome(url, UrlState.ERROR, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a file does to its extractor, the others are read
        return UrlOutcome(url, UrlState.ERROR, f"it cannot be read ({type(error).__name__}: {error})")
    if found.noindex:
        return UrlOutcome(url, UrlState.NOINDEX, "its markup says noindex")
    if not found.page.blocks:
        return UrlOutcome(url, UrlState.EMPTY, "there is no text in it; a scan needs OCR first")
    return UrlOutcome(url, UrlState.FETCHED, found.remark, page=_named(found.page, name))


def _named(page: Page, name: str) -> Page:
    """With a title for people where the extractor could only take the file's name."""
    stem = PurePosixPath(name).stem
    last = page.url.rpartition("/")[2]
    title = page.title if page.title not in ("", last, PurePosixPath(name).name) else stem.replace("_", " ")
    blocks = anchored(page.blocks)
    return replace(page, title=title, blocks=blocks, content_hash=content_hash(title, blocks))
