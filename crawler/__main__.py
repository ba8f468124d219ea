"""`python -m crawler URL --out pages.jsonl`: the crawler alone."""

import os
import sys
from argparse import Namespace
from contextlib import closing
from typing import TextIO

from crawler.command_line import CrawlState, JsonLines, open_lines, options_of, parse
from crawler.crawl import crawl
from crawler.errors import BadStart
from crawler.fetching.signing import SigningKey, key_set
from crawler.options import CrawlOptions
from crawler.preview import explain
from crawler.report import CrawlProgress, CrawlReport

EXIT_NO_PAGES = 1
EXIT_BAD_ARGUMENTS = 2
EXIT_INTERRUPTED = 130
_REPORTED = ("url", "state", "reason", "status", "depth", "found_on")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    args = parse(arguments)
    try:
        if args.public_keys:
            print(key_set([SigningKey.from_file(args.sign_with)]).decode())
            return 0
        if args.explain:
            return _explain(options_of(args), args.explain)
        with (
            closing(CrawlState(args.state)) as state,
            open_lines(args.out, keep=state.resumes) as pages,
            open_lines(args.report, keep=state.resumes) as report,
        ):
            return _crawl(args, state, pages, report)
    except BadStart as error:
        return _fail(str(error), EXIT_BAD_ARGUMENTS)
    except OSError as error:
        return _fail(f"Cannot write {error.filename}: {error.strerror}.", EXIT_BAD_ARGUMENTS)


def _crawl(args: Namespace, state: CrawlState, pages: JsonLines, report: JsonLines) -> int:
    if state.resumes:
        print(f"Resuming the crawl stored in {args.state}.", file=sys.stderr)
    summary = CrawlReport()
    meter = _Meter(sys.stderr, quiet=args.quiet)
    outcomes = crawl(options_of(args), on_progress=meter.show, journal=state.journal, template=state.template)
    try:
        with closing(outcomes):
            for outcome in outcomes:
                summary.add(outcome)
                if outcome.page is not None:
                    pages.write(outcome.url, outcome.page.to_json())
                report.write(outcome.url, {name: getattr(outcome, name) for name in _REPORTED})
                state.done(outcome.url, pages, report)
    except KeyboardInterrupt:
        how = f" Run the same command to resume: {args.state} holds the state." if args.state else ""
        return _fail(f"Stopped. The pages read so far are written.{how}", EXIT_INTERRUPTED)
    finally:
        state.settle(pages, report)
    print(f"\n{summary.progress(0).line()}", file=sys.stderr)
    problem = "" if state.resumes else summary.problem()
    return _fail(problem, EXIT_NO_PAGES) if problem else 0


def _explain(options: CrawlOptions, url: str) -> int:
    findings = list(explain(options, url))
    for finding in findings:
        print(f"{finding.step:>10}  {finding.text}")
    return EXIT_NO_PAGES if findings[-1].ends_here else 0


def _fail(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


class _Meter:
    """A progress line on a terminal; writes nothing to a pipe or file."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._shown = not quiet and stream.isatty()
        self._next = 0.0

    def show(self, progress: CrawlProgress) -> None:
        if self._shown and progress.seconds >= self._next:
            self._next = progress.seconds + 0.2
            width = min(os.get_terminal_size(self._stream.fileno()).columns, 160) - 1
            print(f"\r{progress.line()[:width]:<{width}}", end="", file=self._stream, flush=True)


if __name__ == "__main__":
    sys.exit(main())
