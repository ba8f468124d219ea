"""The command line of `python -m crawler`."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from crawler.errors import BadStart
from crawler.options import CrawlOptions

_FLAGS = {"max_pages", "max_depth", "concurrency", "processes", "delay_s", "contact", "allow_private"}
_DEFAULTS = {
    field.name: field.default
    for field in fields(CrawlOptions)
    if isinstance(field.default, bool | int | float | str) and field.name not in _FLAGS | {"path_prefix"}
}
"""Options that --set knows."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Ends the process with code 2 and a message when the arguments cannot be understood."""
    known = parser()
    args = known.parse_args(arguments)
    if not args.out and not args.explain:
        known.error('say where the pages go with --out FILE ("-" for the standard output), or --explain URL')
    return args


def options_of(args: argparse.Namespace) -> CrawlOptions:
    """Raises BadStart."""
    chosen: dict[str, Any] = {
        "start_urls": tuple(args.url),
        "path_prefix": args.path,
        "include": tuple(args.include),
        "exclude": tuple(args.exclude),
        "max_pages": args.max_pages,
        "max_depth": args.max_depth,
        "concurrency": args.concurrency,
        "processes": args.processes,
        "delay_s": args.delay,
        "contact": args.contact,
        "allow_private": args.allow_private,
    }
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
    """What the command line understands."""
    made = argparse.ArgumentParser(
        prog="python -m crawler",
        description="Crawl a web site and write its pages as JSON, one a line.",
        epilog="Exit codes: 0 pages were written, 1 no page was found, 2 wrong arguments, 130 interrupted.",
    )
    add = made.add_argument
    add("url", nargs="+", help="where to begin, such as https://example.com/docs/")
    add("--out", metavar="FILE", help='file for the pages; "-" writes to standard output')
    add("--report", metavar="FILE", help="file for the end of every URL, with its reason")
    add("--path", default="", metavar="PREFIX", help="only addresses whose path starts like this")
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
        "--delay", type=float, default=0.0, metavar="SECONDS", help="least time between requests (default: 0)"
    )
    add("--contact", default="", help="e-mail or address sent with every request, for the site's owner")
    add("--allow-private", action="store_true", help="crawl private and loopback addresses too")
    add("--state", metavar="FILE", help="remember the crawl here: the same command goes on after a cut")
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
