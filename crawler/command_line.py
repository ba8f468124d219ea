"""The command line of `python -m crawler`."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from crawler.errors import BadStart
from crawler.fetching.signing import RequestSigner, SigningKey
from crawler.journal import FileJournal
from crawler.options import CrawlOptions
from crawler.recorder import TEMPLATE

_FLAGS = {"max_pages", "max_depth", "concurrency", "processes", "delay_s", "contact", "allow_private"}
_DEFAULTS = {
    name: field.default
    for name, field in CrawlOptions.model_fields.items()
    if isinstance(field.default, bool | int | float | str) and name not in _FLAGS | {"path_prefix"}
}
"""Options that --set accepts."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the arguments; end the process with code 2 and a message when they are wrong."""
    known = parser()
    args = known.parse_args(arguments)
    if args.public_keys and not args.sign_with:
        known.error("say which key to publish with --sign-with KEY.pem")
    if not args.url and not args.public_keys:
        known.error("say where to begin, such as https://example.com/docs/")
    if not args.out and not args.explain and not args.public_keys:
        known.error('say where the pages go with --out FILE ("-" for the standard output), or --explain URL')
    return args


def options_of(args: argparse.Namespace) -> CrawlOptions:
    """Return the crawl's options from parsed arguments. Raises BadStart."""
    chosen: dict[str, Any] = {name: getattr(args, name) for name in (*_FLAGS, "path_prefix")}
    chosen |= {"start_urls": tuple(args.url), "include": tuple(args.include), "exclude": tuple(args.exclude)}
    if args.sign_with:
        chosen["signer"] = RequestSigner(SigningKey.from_file(args.sign_with), args.signature_agent)
    return CrawlOptions(**chosen | dict(_named(text) for text in args.set))


def _named(text: str) -> tuple[str, bool | int | float | str]:
    """ "retries=5" -> ("retries", 5); the type is that of the option's default."""
    name, _, value = text.partition("=")
    default = _DEFAULTS.get(name)
    if default is None:
        raise BadStart(f'There is no option "{name}" for --set: choose from {", ".join(sorted(_DEFAULTS))}.')
    if isinstance(default, bool):
        if value not in ("0", "1"):
            raise BadStart(f"--set {name}=0 or --set {name}=1, not {value!r}.")
        return name, value == "1"
    try:
        return name, type(default)(value)
    except ValueError:
        raise BadStart(f"--set {name} wants a number, not {value!r}.") from None


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m crawler",
        description="Crawl a web site and write its pages as JSON, one a line.",
        epilog="Exit codes: 0 pages were written, 1 no page was found, 2 wrong arguments, 130 interrupted.",
    )
    add = made.add_argument
    add("url", nargs="*", help="where to begin, such as https://example.com/docs/")
    add("--out", metavar="FILE", help='file for the pages; "-" writes to standard output')
    add("--report", metavar="FILE", help="file for the end of every URL, with its reason")
    add(
        "--path",
        dest="path_prefix",
        default="",
        metavar="PREFIX",
        help="only addresses whose path starts like this",
    )
    add(
        "--include",
        action="append",
        default=[],
        metavar="PATTERN",
        help='only these, such as "/docs/*"; repeatable',
    )
    add("--exclude", action="append", default=[], metavar="PATTERN", help="not these; repeatable")
    add("--max-pages", type=int, default=2000, metavar="N", help="pages at most (default: %(default)s)")
    add("--max-depth", type=int, default=20, metavar="N", help="clicks from the start (default: %(default)s)")
    add("--concurrency", type=int, default=8, metavar="N", help="requests at once (default: %(default)s)")
    add(
        "--processes",
        type=int,
        default=-1,
        metavar="N",
        help="extra processes that read pages of a big crawl; -1 is one for each core but one (default)",
    )
    add(
        "--delay",
        dest="delay_s",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="least time between requests (default: 0)",
    )
    add("--contact", default="", help="e-mail or address sent with every request, for the site's owner")
    add("--sign-with", metavar="KEY.pem", help="sign every request with this Ed25519 key (Web Bot Auth)")
    add(
        "--signature-agent",
        default="",
        metavar="URL",
        help="where the public key of --sign-with is published; named in each signed request",
    )
    add("--public-keys", action="store_true", help="write the public key of --sign-with, to be published")
    add("--allow-private", action="store_true", help="crawl private and loopback addresses too")
    add(
        "--state",
        metavar="FILE",
        help="store the crawl's state here: the same command then resumes it",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other option of docs/crawling.md, such as retries=5; repeatable",
    )
    add("--explain", metavar="URL", help="say what would happen to this address, and why")
    add("--quiet", action="store_true", help="no progress line")
    return made


_SETTLE_EVERY_S = 0.5


class JsonLines:
    """Writes one JSON object a line, each URL once; does nothing without a file."""

    def __init__(self, file: TextIO | None, written: set[str]) -> None:
        self._file = file
        self._written = written

    def write(self, url: str, value: Mapping[str, object]) -> None:
        """Append a line, unless the file has one for `url` already."""
        if self._file is not None and url not in self._written:
            self._file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def flush(self) -> None:
        """Hand what was written to the operating system, so that it survives the process."""
        if self._file is not None:
            self._file.flush()


@contextmanager
def open_lines(path: str | None, *, keep: bool) -> Iterator[JsonLines]:
    """Open a file for lines; "-" is the standard output. With `keep`, append to what it holds, and raise
    BadStart when that is not what a crawl wrote."""
    if path is None:
        yield JsonLines(None, set())
    elif path == "-":
        yield JsonLines(sys.stdout, set())
    else:
        place = Path(path)
        urls = _kept(place) if keep and place.exists() else set()
        with place.open("a" if keep else "w", encoding="utf-8") as file:
            yield JsonLines(file, urls)


def _kept(place: Path) -> set[str]:
    """Return the URLs in a file, and truncate an incomplete last line."""
    urls, end = set(), 0
    with place.open("rb+") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            end += len(line)
            try:
                urls.add(json.loads(line)["url"])
            except (ValueError, TypeError, KeyError):
                raise BadStart(f"{place} has lines that no crawl wrote: give another file.") from None
        os.truncate(file.fileno(), end)
    return urls


class CrawlState:
    """The journal of a crawl from the shell, if --state names one; a finished crawl starts again."""

    def __init__(self, path: str | None) -> None:
        self.journal = FileJournal(Path(path)) if path else None
        self.resumes = False
        self.template = ""
        """The site's template as the last crawl learned it."""
        self._waiting: list[str] = []
        self._settled = time.monotonic()
        if self.journal is not None:
            self.template = self.journal.notes().get(TEMPLATE, "")
            self.resumes = not self.journal.is_over() and next(self.journal.entries(), None) is not None
            if not self.resumes:
                self.journal.clear()

    def done(self, url: str, *files: JsonLines) -> None:
        """Note that the outcome of `url` was written to the files."""
        self._waiting.append(url)
        if time.monotonic() - self._settled >= _SETTLE_EVERY_S:
            self.settle(*files)

    def settle(self, *files: JsonLines) -> None:
        """Flush the files and mark their outcomes as stored, so that a resumed crawl skips them."""
        for file in files:
            file.flush()
        if self.journal is not None:
            self.journal.settle(self._waiting)
        self._waiting.clear()
        self._settled = time.monotonic()

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()
