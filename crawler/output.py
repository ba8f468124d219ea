"""The files that `python -m crawler` writes, so that a crawl that was cut off can go on with them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from crawler.file_journal import FileJournal
from crawler.recorder import TEMPLATE

_SETTLE_EVERY_S = 0.5


class PageLines:
    """One JSON object a line, each URL once; nothing is written without a file."""

    def __init__(self, file: TextIO | None, written: set[str]) -> None:
        self._file = file
        self._written = written

    def write(self, url: str, value: Mapping[str, object]) -> None:
        """A URL that stands in the file already is left as it is."""
        if self._file is not None and url not in self._written:
            self._file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def flush(self) -> None:
        """What was written survives the end of the process."""
        if self._file is not None:
            self._file.flush()


@contextmanager
def written(path: str | None, *, keep: bool) -> Iterator[PageLines]:
    """A file for lines; "-" is the standard output. With `keep`, what stands in it stays."""
    if path is None:
        yield PageLines(None, set())
    elif path == "-":
        yield PageLines(sys.stdout, set())
    else:
        place = Path(path)
        urls = _kept(place) if keep and place.exists() else set()
        with place.open("a" if keep else "w", encoding="utf-8") as file:
            yield PageLines(file, urls)


def _kept(place: Path) -> set[str]:
    """URLs in a file; a last line that was cut off is cut away."""
    urls, end = set(), 0
    with place.open("rb+") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            end += len(line)
            urls.add(json.loads(line)["url"])
        os.truncate(file.fileno(), end)
    return urls


class State:
    """The journal of a crawl from the shell, if it has one; a crawl that is over begins anew."""

    def __init__(self, path: str | None) -> None:
        self.journal = FileJournal(Path(path)) if path else None
        self.goes_on = False
        self.template = ""
        """What stands on most pages, as the last crawl learned it."""
        self._waiting: list[str] = []
        self._settled = time.monotonic()
        if self.journal is not None:
            self.template = self.journal.notes().get(TEMPLATE, "")
            self.goes_on = not self.journal.is_over() and next(self.journal.entries(), None) is not None
            if not self.goes_on:
                self.journal.clear()

    def done(self, url: str, *files: PageLines) -> None:
        """An outcome was written to the files."""
        self._waiting.append(url)
        if time.monotonic() - self._settled >= _SETTLE_EVERY_S:
            self.settle(*files)

    def settle(self, *files: PageLines) -> None:
        """Outcomes are not handed out again once the files hold them."""
        for file in files:
            file.flush()
        if self.journal is not None:
            self.journal.settle(self._waiting)
        self._waiting.clear()
        self._settled = time.monotonic()

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()
