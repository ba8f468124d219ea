"""`python -m server curated`: the operator's own answers in the shell."""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import asdict
from pathlib import Path

from server.domain.curated import CuratedAnswer
from server.errors import StartError
from server.services import Services
from server.settings import Settings

HELP = "list, add, remove or import the operator's own answers"

EDITOR = "shell"
COLUMNS = ("question", "answer", "alternatives", "links", "language")


def arguments(parser: argparse.ArgumentParser) -> None:
    """One action, and the site that it concerns."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="every curated answer of a site")
    listing.add_argument("site", help="id of the site")
    listing.add_argument("--json", action="store_true", help="one JSON array")
    adding = actions.add_parser("add", help="a question with its answer")
    adding.add_argument("site", help="id of the site")
    adding.add_argument("question", help="as visitors ask it")
    adding.add_argument("answer", help="Markdown")
    adding.add_argument(
        "--also", action="append", default=[], metavar="QUESTION", help="another way to ask it"
    )
    adding.add_argument("--link", action="append", default=[], metavar="URL", help="a page to read on")
    adding.add_argument("--language", default="", metavar="CODE", help="only for questions in this language")
    removing = actions.add_parser("remove", help="one of them")
    removing.add_argument("site", help="id of the site")
    removing.add_argument("number", type=int, help="as the list shows it")
    importing = actions.add_parser("import", help=f"a CSV file with the columns {', '.join(COLUMNS)}")
    importing.add_argument("site", help="id of the site")
    importing.add_argument(
        "file", type=Path, help="UTF-8; several alternatives or links stand on lines of a cell"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Changes reach visitors within a second. Raises UnknownSite, StartError."""
    services = Services(settings)
    try:
        services.sites.get(options.site)
        {"list": _list, "add": _add, "remove": _remove, "import": _import}[options.action](services, options)
    finally:
        services.close()
    return 0


def _list(services: Services, options: argparse.Namespace) -> None:
    found = services.curated.all(options.site)
    if options.json:
        print(json.dumps([asdict(answer) for answer in found], ensure_ascii=False, indent=2, default=str))
        return
    for answer in found:
        state = "" if answer.enabled else " (off)"
        print(f"{answer.id}\t{answer.questions[0]}{state}\t{' '.join(answer.text.split())[:80]}")
    if not found:
        print(f"No curated answer yet. Add one: python -m server curated add {options.site} QUESTION ANSWER")


def _add(services: Services, options: argparse.Namespace) -> None:
    made = _checked(
        options.site, [options.question, *options.also], options.answer, options.link, options.language
    )
    print(f"Added as {services.curated.save(made, EDITOR).id}.")


def _remove(services: Services, options: argparse.Namespace) -> None:
    if not services.curated.remove(options.site, options.number):
        raise StartError(
            f"{options.site} has no curated answer {options.number}; see: curated list {options.site}"
        )
    print(f"Removed {options.number}.")


def _import(services: Services, options: argparse.Namespace) -> None:
    """All rows are checked before the first is stored. A question that is there already is replaced."""
    rows = _rows(options.site, options.file)
    known = {answer.questions[0]: answer.id for answer in services.curated.all(options.site)}
    for row in rows:
        values = asdict(row) | {"id": known.get(row.questions[0], 0)}
        services.curated.save(CuratedAnswer(**values), EDITOR)
    print(f"Imported {len(rows)}.")


def _rows(site_id: str, path: Path) -> list[CuratedAnswer]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = {"question", "answer"} - set(reader.fieldnames or ())
            if missing:
                raise StartError(f"{path} lacks the column {' and '.join(sorted(missing))} in its first line")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StartError(f"{path} cannot be read as CSV in UTF-8: {error}") from None
    made = []
    for number, row in enumerate(rows, 2):
        cell = {name: (row.get(name) or "").strip() for name in COLUMNS}
        questions = [cell["question"], *cell["alternatives"].splitlines()]
        try:
            made.append(
                _checked(site_id, questions, cell["answer"], cell["links"].splitlines(), cell["language"])
            )
        except StartError as error:
            raise StartError(f"{path} row {number}: {error}") from None
    return made


def _checked(site_id: str, questions: list[str], text: str, links: list[str], language: str) -> CuratedAnswer:
    try:
        return CuratedAnswer.checked(site_id, questions, text, links, language)
    except ValueError as error:
        raise StartError(str(error)) from None
