"""`python -m server curated`: the operator's own answers in the shell."""

import argparse
import json
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from server.answering.shortcuts.curated import utc_today
from server.domain.curated import (
    COLUMNS,
    CuratedAnswer,
    CuratedFileError,
    CuratedState,
    read_answers,
    written_csv,
    written_jsonl,
)
from server.errors import StartError
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings

HELP = "list, add, remove, import or export the operator's own answers"

EDITOR = "shell"


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action, and the site that it concerns."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="every own answer of a site")
    listing.add_argument("site", help="id of the site")
    listing.add_argument("--json", action="store_true", help="one JSON array")
    adding = actions.add_parser("add", help="a question with its answer")
    adding.add_argument("site", help="id of the site")
    adding.add_argument("question", help="as visitors ask it")
    adding.add_argument("answer", help="Markdown")
    adding.add_argument(
        "--also", action="append", default=[], metavar="QUESTION", help="another way to ask the question"
    )
    adding.add_argument(
        "--link", action="append", default=[], metavar="URL", help="a page for further reading"
    )
    adding.add_argument("--language", default="", metavar="CODE", help="only for questions in this language")
    adding.add_argument(
        "--from", dest="since", default="", metavar="DAY", help="the first day, such as 2025-12-31"
    )
    adding.add_argument("--until", default="", metavar="DAY", help="the last day")
    removing = actions.add_parser("remove", help="remove an answer")
    removing.add_argument("site", help="id of the site")
    removing.add_argument("number", type=int, help="number of the answer in the list")
    importing = actions.add_parser("import", help=f"a CSV or JSONL file with {', '.join(COLUMNS)}")
    importing.add_argument("site", help="id of the site")
    importing.add_argument("file", type=Path, help="UTF-8; several alternatives or links are lines of a cell")
    exporting = actions.add_parser("export", help="write them all to a CSV or JSONL file")
    exporting.add_argument("site", help="id of the site")
    exporting.add_argument("file", type=Path, help="its name ends in .csv or .jsonl")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Changes reach visitors within a second. Raises UnknownSite, StartError."""
    with closing(open_runtime(settings)) as runtime:
        runtime.stores.sites.get(options.site)
        _ACTIONS[options.action](runtime, options)
    return 0


def _list(runtime: Runtime, options: argparse.Namespace) -> None:
    found = runtime.stores.curated.all(options.site)
    if options.json:
        print(json.dumps([asdict(answer) for answer in found], ensure_ascii=False, indent=2, default=str))
        return
    for answer in found:
        state = answer.state(utc_today())
        shown = "" if state is CuratedState.ON else f" ({state.value})"
        print(f"{answer.id}\t{answer.questions[0]}{shown}\t{' '.join(answer.text.split())[:80]}")
    if not found:
        print(f"No curated answer yet. Add one: python -m server curated add {options.site} QUESTION ANSWER")


def _add(runtime: Runtime, options: argparse.Namespace) -> None:
    made = _checked(options)
    print(f"Added as {runtime.stores.curated.save(made, EDITOR).id}.")


def _remove(runtime: Runtime, options: argparse.Namespace) -> None:
    if not runtime.stores.curated.remove(options.site, options.number):
        raise StartError(
            f"{options.site} has no curated answer {options.number}; see: curated list {options.site}"
        )
    print(f"Removed {options.number}.")


def _import(runtime: Runtime, options: argparse.Namespace) -> None:
    """All rows are checked before the first is stored. A question that is there already is replaced."""
    try:
        data = options.file.read_bytes()
        made = read_answers(options.site, data, is_json=options.file.suffix.lower() in (".jsonl", ".json"))
    except OSError as error:
        raise StartError(f"{options.file} cannot be read: {error.strerror}") from None
    except CuratedFileError as error:
        raise StartError(f"{options.file} {error}") from None
    new, replaced = runtime.stores.curated.save_all(made, EDITOR)
    print(f"Imported {new + replaced}: {new} new, {replaced} replaced.")


def _export(runtime: Runtime, options: argparse.Namespace) -> None:
    found = runtime.stores.curated.all(options.site)
    is_json = options.file.suffix.lower() in (".jsonl", ".json")
    try:
        written = written_jsonl(found) if is_json else written_csv(found)
        options.file.write_text(written, encoding="utf-8", newline="")
    except OSError as error:
        raise StartError(f"{options.file} cannot be written: {error.strerror}") from None
    print(f"Wrote {len(found)} to {options.file}.")


def _checked(options: argparse.Namespace) -> CuratedAnswer:
    questions, days = [options.question, *options.also], (options.since, options.until)
    try:
        return CuratedAnswer.checked(
            options.site, questions, options.answer, options.link, options.language, days
        )
    except ValueError as error:
        raise StartError(str(error)) from None


_ACTIONS = {"list": _list, "add": _add, "remove": _remove, "import": _import, "export": _export}
