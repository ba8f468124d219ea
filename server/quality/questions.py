"""Questions of test sets: from files, from what an operator writes, and back into files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from server.domain.addresses import absolute
from server.domain.site import Site
from server.evaluation.questions import BadQuestionFile, Case, case_of_line
from server.quality.testset_store import StoredCase
from server.settings import Settings

LONGEST_QUESTION = 1000
MOST_PAGES = 20
MOST_PROBLEMS = 20
"""Wrong lines that are told at once."""


class BadQuestions(Exception):
    """What was given cannot become questions; nothing of it was stored."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems[0])
        self.problems = tuple(problems)
        """Sentences that say what to do, by line where there are lines."""


def question_base(site: Site, settings: Settings) -> str:
    """What paths in questions of a site are relative to."""
    return site.start_urls[0] if site.start_urls else f"{settings.serving.base_url}/sources/{site.id}/"


def read_upload(body: bytes, site: Site, settings: Settings) -> list[StoredCase]:
    """The questions of a file. Raises BadQuestions with every wrong line, up to MOST_PROBLEMS."""
    if len(body) > settings.quality.testset_bytes:
        raise BadQuestions(
            [f"The file has more than {settings.quality.testset_bytes:,} bytes (TESTSET_BYTES)."]
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadQuestions(
            ["The file is not UTF-8 text. Save it as UTF-8, one JSON object a line."]
        ) from None
    # Only what ends a line of a file: a line separator inside a JSON text is part of it.
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise BadQuestions(['The file is empty. Write one JSON object a line, such as {"question": "…"}.'])
    most = settings.quality.testset_questions
    if len(lines) > most:
        raise BadQuestions(
            [f"The file has {len(lines):,} questions; at most {most:,} are taken "
             "(TESTSET_QUESTIONS). Leave some out, or split it."]
        )  # fmt: skip
    return _checked(lines, question_base(site, settings))


def _checked(lines: Sequence[tuple[int, str]], base: str) -> list[StoredCase]:
    problems: list[str] = []
    made: list[StoredCase] = []
    seen: dict[str, int] = {}
    for at, line in lines:
        try:
            case = case_of_line(line, f"Line {at}", str(at), base)
        except (BadQuestionFile, ValueError, TypeError) as error:
            problems.append(f"{error}.")
            continue
        if case.id in seen:
            problems.append(
                f'Line {at}: the id "{case.id}" stands on line {seen[case.id]} too; each needs its own.'
            )
        elif len(case.question) > LONGEST_QUESTION:
            problems.append(f"Line {at}: the question has more than {LONGEST_QUESTION:,} characters.")
        seen.setdefault(case.id, at)
        made.append(stored_case(case, line, len(made) + 1))
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"{len(problems) - MOST_PROBLEMS:,} further lines are wrong."]
    if problems:
        raise BadQuestions(problems)
    return made


def stored_case(case: Case, line: str, number: int = 0) -> StoredCase:
    """As it is kept. Whether it can be answered is what judges go by; a question of which nothing is known
    counts as answerable."""
    answerable = case.type not in ("unanswerable", "injection")
    return StoredCase(number, case.id, case.question, case.type, answerable, line)


def written_cases(cases: Iterable[Case], settings: Settings) -> list[StoredCase]:
    """Cases that were made here, each with the line that it stands on in a file."""
    return [
        stored_case(case, line_of(case, settings.serving.base_url), number)
        for number, case in enumerate(cases, 1)
    ]


def line_of(case: Case, base_url: str) -> str:
    """A case as a line of a question file: its addresses whole."""
    row = case.to_json()
    for name in ("expected_urls", "left_out"):
        if name in row:
            row[name] = [absolute(url, base_url) for url in getattr(case, name)]
    row.pop("spellings", None)
    return json.dumps(row, ensure_ascii=False)


def case_of(stored: StoredCase, site: Site, settings: Settings) -> Case:
    """What a stored question means. Raises BadQuestionFile for one that an older version stored."""
    case = case_of_line(stored.line, stored.case_id, stored.case_id, question_base(site, settings))
    return replace(case, id=stored.case_id)


def file_of(cases: Iterable[StoredCase]) -> str:
    """The set as it was uploaded: one object a line."""
    return "".join(f"{case.line}\n" for case in cases)


def run_file_of(cases: Iterable[StoredCase]) -> str:
    """The same, each line with the name by which reports call it."""
    return "".join(json.dumps({**json.loads(case.line), "id": case.case_id}) + "\n" for case in cases)


def written_case(
    question: str, pages: Sequence[str], *, answerable: bool, answer: str = "", kind: str = "",
    known: StoredCase | None = None,
) -> StoredCase:  # fmt: skip
    """What an operator wrote; with `known`, that question changed, and all else that its line says kept.
    Raises BadQuestions."""
    asked = " ".join(question.split())
    _check_written(asked, pages, answerable)
    row = json.loads(known.line) if known else {}
    row["question"] = question if known and asked == " ".join(known.question.split()) else asked
    kind = kind or ("lookup" if answerable else "unanswerable")
    if not answerable and kind != "injection":
        kind = "unanswerable"
    elif answerable and kind in ("unanswerable", "injection"):
        kind = "lookup"
    for name, value, usual in (
        ("type", kind, "lookup"),
        ("expected_urls", list(pages), []),
        ("answer", answer, ""),
    ):
        if value != row.get(name, usual):
            row[name] = value
        if name in row and row[name] == usual and name != "type":
            del row[name]
    if known and row == json.loads(known.line):
        return known
    if known:
        return StoredCase(known.number, known.case_id, row["question"], kind, answerable, _line(row))
    return StoredCase(0, "", asked, kind, answerable, _line(row))


def _check_written(asked: str, pages: Sequence[str], answerable: bool) -> None:
    if not asked:
        raise BadQuestions(["Write the question as visitors ask it."])
    if len(asked) > LONGEST_QUESTION:
        raise BadQuestions([f"Write the question in at most {LONGEST_QUESTION:,} characters."])
    if len(pages) > MOST_PAGES:
        raise BadQuestions([f"Name at most {MOST_PAGES} pages."])
    if pages and not answerable:
        raise BadQuestions(["A question that the site cannot answer has no page: leave the page empty."])
    for page in pages:
        if not is_page(page):
            raise BadQuestions(
                [f"“{page[:80]}” is no address of a page. Write it whole, as https://example.com/page, or "
                 "from the first slash on."]
            )  # fmt: skip


def is_page(address: str) -> bool:
    """Whether it can be the address of a page, whole or below the site."""
    if any(character.isspace() or ord(character) < 32 for character in address) or "\\" in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme or parts.netloc:
        return parts.scheme in ("http", "https") and bool(parts.netloc)
    return address.startswith("/")


def _line(row: dict[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False)
