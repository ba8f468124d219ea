"""Reading of one file: its page, or the reason why it has none."""

import os
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile, ZipInfo

from crawler.errors import BadFile, BadStart
from crawler.extractors import EXTRACTORS, SUFFIXES, SourceDocument, content_type_of, extract, suffix_of
from crawler.limits import FileLimits
from crawler.page import Block, Page, content_hash
from crawler.report import UrlOutcome, UrlState
from crawler.unpacking import is_bounded

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


MOST_FILES = 2000
_ENCRYPTED = 0x1


def unpack(body: bytes, max_bytes: int) -> list[tuple[str, bytes]]:
    """(name, bytes) of each file that can be read, in the archive's order.

    Raises BadFile if it is no archive, is protected, or unpacks to more than `max_bytes` altogether.
    """
    try:
        with ZipFile(BytesIO(body)) as archive:
            wanted = [entry for entry in archive.infolist() if _is_wanted(entry)]
            if len(wanted) > MOST_FILES:
                raise BadFile(f"it has {len(wanted):,} files; the limit is {MOST_FILES:,}")
            if not all(map(is_bounded, wanted)):
                raise BadFile("it is compressed in an unusual way; make a zip archive without BZIP2 or LZMA")
            if sum(entry.file_size for entry in wanted) > max_bytes:
                raise BadFile(f"it unpacks to more than the limit of {max_bytes:,} bytes")
            return _contents(archive, wanted, max_bytes)
    except (BadZipFile, zlib.error, NotImplementedError, ValueError, EOFError, OSError) as error:
        raise BadFile(f"it is damaged or no zip archive ({error})") from error


def _contents(archive: ZipFile, wanted: list[ZipInfo], left: int) -> list[tuple[str, bytes]]:
    found = []
    for entry in wanted:
        if entry.flag_bits & _ENCRYPTED:
            raise BadFile("it is protected by a password")
        with archive.open(entry) as part:
            data = part.read(left + 1)  # the archive may lie about its sizes
        left -= len(data)
        if left < 0:
            raise BadFile("it unpacks to more than the limit")
        found.append((_name(entry), data))
    return found


def _is_wanted(entry: ZipInfo) -> bool:
    parts = _name(entry).split("/")
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not entry.is_dir() and not hidden and is_readable(parts[-1])


def _name(entry: ZipInfo) -> str:
    parts = entry.filename.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "..", "."))


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOptions:
    """Files of a folder to read. Patterns are like those of a crawl, over "/path/in/the/folder.md"."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_files: int = 10_000
    max_bytes: int = 20_000_000
    """Limit for one file."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read, or one that is not read, with its state and reason."""

    name: str
    """Path in the folder, with "/"."""
    path: Path
    state: UrlState | None = None
    reason: str = ""


def files_in(folder: Path, options: FolderOptions) -> Iterator[FoundFile]:
    """Every file below `folder`, sorted, without hidden ones. Links that lead out of it are not followed.

    Raises BadStart when the folder cannot be read.
    """
    try:
        root = folder.resolve(strict=True)
        next(root.iterdir(), None)
    except OSError as error:
        raise BadStart(f"the folder {folder} cannot be read ({error.strerror or error})") from error
    include, exclude = _compiled(options.include), _compiled(options.exclude)
    count = 0
    for path in _walk(root):
        name = path.relative_to(root).as_posix()
        state, reason = _objection(path, name, root, options, include, exclude)
        if state is None and count >= options.max_files:
            state, reason = UrlState.OVER_LIMIT, f"the limit of {options.max_files} files was reached"
        count += state is None
        yield FoundFile(name, path, state, reason)


def public_url(base: str, name: str) -> str:
    """Address of a file of a folder that is served at `base`."""
    return f"{base.rstrip('/')}/{quote(name)}"


def _walk(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(place, name)


def _objection(
    path: Path,
    name: str,
    root: Path,
    options: FolderOptions,
    include: list[tuple[str, re.Pattern[str]]],
    exclude: list[tuple[str, re.Pattern[str]]],
) -> tuple[UrlState | None, str]:
    try:
        real = path.resolve(strict=True)
        size = real.stat().st_size
    except OSError as error:
        return UrlState.ERROR, f"it cannot be opened ({error.strerror or error})"
    if not real.is_relative_to(root):
        return UrlState.EXCLUDED, "a link that leads out of the folder"
    if not real.is_file():
        return UrlState.UNSUPPORTED, "no ordinary file"
    for pattern, matches in exclude:
        if matches.match(f"/{name}"):
            return UrlState.EXCLUDED, f'matches the exclude pattern "{pattern}"'
    if include and not any(matches.match(f"/{name}") for _, matches in include):
        return UrlState.EXCLUDED, "matches no include pattern"
    if not is_readable(name):
        return UrlState.UNSUPPORTED, not_readable(name)
    if size > options.max_bytes:
        return UrlState.TOO_LARGE, f"{size:,} bytes, the limit is {options.max_bytes:,}"
    return None, ""


def _compiled(patterns: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    for pattern in patterns:
        if not pattern.startswith(("/", "*")):
            raise BadStart(f'Pattern "{pattern}" must start with "/" or "*".')
    return [(pattern, re.compile(translate(pattern))) for pattern in patterns]
