"""The files of a local folder."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from urllib.parse import quote

from crawler.errors import BadStart
from crawler.report import UrlState
from crawler.sources.files import is_readable, not_readable


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
