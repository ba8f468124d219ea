"""Reading of one file: its page, or the reason why it has none."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from crawler.errors import BadFile
from crawler.extractors import (
    EXTRACTORS,
    SUFFIXES,
    FileLimits,
    SourceDocument,
    content_type_of,
    extract,
    suffix_of,
)
from crawler.page import Block, Page, content_hash
from crawler.report import UrlOutcome, UrlState

READER = 1
"""Version of the file reading; raise it so that unchanged files are read again."""
_NOT_IN_ID = re.compile(r"[^\w-]+")
_LONGEST = 60


def is_readable(name: str) -> bool:
    """Return whether a file of this name can be read."""
    return suffix_of(name) in SUFFIXES


def not_readable(name: str) -> str:
    """Why a file of this name cannot be read, in words for the operator."""
    suffix = suffix_of(name)
    kind = f"a .{suffix} file" if suffix else "a file without a suffix"
    return f"{kind}: only HTML, Markdown, text, PDF and DOCX files are read"


def media_type_of(name: str) -> str:
    """The media type of a file, by its name; empty when it cannot be read."""
    found = content_type_of(name, "")
    return found if found in EXTRACTORS else ""


def read_file(name: str, body: bytes, url: str, limits: FileLimits | None = None) -> UrlOutcome:
    """Read a file as the page at `url`. Headings without an anchor in the file get one."""
    media_type = media_type_of(name)
    if not media_type:
        return UrlOutcome(url, UrlState.UNSUPPORTED, not_readable(name))
    try:
        found = extract(SourceDocument(url, body, media_type, limits=limits or FileLimits()))
    except BadFile as error:
        return UrlOutcome(url, UrlState.ERROR, str(error))
    except Exception as error:  # noqa: BLE001 - one file must not stop the reading of the others
        return UrlOutcome(url, UrlState.ERROR, f"it cannot be read ({type(error).__name__}: {error})")
    if found.noindex:
        return UrlOutcome(url, UrlState.NOINDEX, "its markup says noindex")
    if not found.page.blocks:
        return UrlOutcome(url, UrlState.EMPTY, "there is no text in it; a scan needs OCR first")
    return UrlOutcome(url, UrlState.FETCHED, found.remark, page=_named(found.page, name))


def _named(page: Page, name: str) -> Page:
    """The page with a readable title if the extractor found only the file's name."""
    stem = PurePosixPath(name).stem
    last = page.url.rpartition("/")[2]
    title = page.title if page.title not in ("", last, PurePosixPath(name).name) else stem.replace("_", " ")
    blocks = anchored(page.blocks)
    return replace(page, title=title, blocks=blocks, content_hash=content_hash(title, blocks))


def anchored(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the same blocks, with an anchor made of the words of each heading that had none."""
    taken = {block.anchor for block in blocks if block.anchor}
    made: dict[tuple[str, ...], str] = {}
    found = []
    for block in blocks:
        if block.heading_path and not block.anchor:
            anchor = made.get(block.heading_path)
            if anchor is None:
                anchor = made[block.heading_path] = _new_anchor(block.heading_path[-1], taken)
                taken.add(anchor)
            block = replace(block, anchor=anchor)
        found.append(block)
    return tuple(found)


def _new_anchor(heading: str, taken: set[str]) -> str:
    base = _NOT_IN_ID.sub("-", heading.lower()).strip("-")[:_LONGEST] or "section"
    number, anchor = 1, base
    while anchor in taken:
        number += 1
        anchor = f"{base}-{number}"
    return anchor
