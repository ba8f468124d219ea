"""`python -m crawler URL --out pages.jsonl`: the crawler alone."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TextIO

from crawler.crawl import crawl
from crawler.errors import BadStart
from crawler.options import CrawlOptions
from crawler.report import CrawlReport, Progress, UrlOutcome

EXIT_NO_PAGES = 1
EXIT_BAD_ARGUMENTS = 2
EXIT_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    args = _parser().parse_args(arguments)
    try:
        options = _options(args)
        outcomes = crawl(options, on_progress=_Meter(sys.stderr, quiet=args.quiet).show)
        with _opened(args.out) as pages, _opened(args.report) as report:
            problem = _run(outcomes, pages, report)
    except BadStart as error:
        return _fail(str(error), EXIT_BAD_ARGUMENTS)
    except OSError as error:
        return _fail(f"Cannot write {error.filename}: {error.strerror}.", EXIT_BAD_ARGUMENTS)
    except KeyboardInterrupt:
        return _fail("Stopped. The pages read so far are written.", EXIT_INTERRUPTED)
    return _fail(problem, EXIT_NO_PAGES) if problem else 0


def _run(outcomes: Generator[UrlOutcome, None, None], pages: TextIO | None, report: TextIO | None) -> str:
    summary = CrawlReport()
    with closing(outcomes):
        for outcome in outcomes:
            summary.add(outcome)
            if outcome.page is not None and pages is not None:
                pages.write(json.dumps(outcome.page.to_json(), ensure_ascii=False) + "\n")
            if report is not None:
                report.write(json.dumps(_row(outcome), ensure_ascii=False) + "\n")
    print(f"\n{summary.progress(0).line()}", file=sys.stderr)
    return summary.problem()


def _row(outcome: UrlOutcome) -> dict[str, str | int]:
    return {
        "url": outcome.url,
        "state": outcome.state.value,
        "reason": outcome.reason,
        "status": outcome.status,
        "depth": outcome.depth,
    }


def _fail(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


class _Meter:
    """One line on the terminal that is written over; nothing where nobody watches."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._shown = not quiet and stream.isatty()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        if self._shown and progress.seconds >= self._next:
            self._next = progress.seconds + 0.2
            width = min(os.get_terminal_size(self._stream.fileno()).columns, 160) - 1
            print(f"\r{progress.line()[:width]:<{width}}", end="", file=self._stream, flush=True)


@contextmanager
def _opened(path: str | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
    elif path == "-":
        yield sys.stdout
    else:
        with Path(path).open("w", encoding="utf-8") as file:
            yield file


def _options(args: argparse.Namespace) -> CrawlOptions:
    return CrawlOptions(
        start_urls=tuple(args.url),
        path_prefix=args.path,
        include=tuple(args.include),
        exclude=tuple(args.exclude),
        max_pages=args.max_pages,
        max_depth=args.max_depth,
        concurrency=args.concurrency,
        processes=args.processes,
        delay_s=args.delay,
        contact=args.contact,
        allow_private=args.allow_private,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crawler",
        description="Crawl a web site and write its pages as JSON, one a line.",
        epilog="Exit codes: 0 pages were written, 1 no page was found, 2 wrong arguments, 130 interrupted.",
    )
    add = parser.add_argument
    add("url", nargs="+", help="where to begin, such as https://example.com/docs/")
    add("--out", metavar="FILE", required=True, help='file for the pages; "-" writes to standard output')
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
        default=0,
        metavar="N",
        help="extra processes that read pages (default: none)",
    )
    add(
        "--delay", type=float, default=0.0, metavar="SECONDS", help="least time between requests (default: 0)"
    )
    add("--contact", default="", help="e-mail or address sent with every request, for the site's owner")
    add("--allow-private", action="store_true", help="crawl private and loopback addresses too")
    add("--quiet", action="store_true", help="no progress line")
    return parser


if __name__ == "__main__":
    sys.exit(main())
