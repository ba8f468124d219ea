"""An answer that the operator wrote."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from functools import partial

LONGEST = 10_000
LONGEST_QUESTION = 500


class CuratedState(StrEnum):
    """Whether a curated answer is given."""

    ON = "on"
    OFF = "off"
    NOT_YET = "not yet"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class ContentCheck:
    """What the site's own pages answer to the same question."""

    at: datetime
    outcome: str
    """Of the site's own answer; empty when it could not be made."""
    text: str = ""
    """The words of the pages."""
    url: str = ""
    differences: tuple[str, ...] = ()
    """Whole sentences for the operator."""


@dataclass(frozen=True, slots=True)
class CuratedAnswer:
    """Given at once to whoever asks one of its questions, in these words or nearly so."""

    site_id: str
    questions: tuple[str, ...]
    """The question and other ways to ask it; at least one."""
    text: str
    """Markdown."""
    links: tuple[str, ...] = ()
    """Addresses of pages to read on."""
    language: str = ""
    """Primary subtag of the questions that it is for; empty: any."""
    enabled: bool = True
    id: int = 0
    """0 until it is stored."""
    edited_by: str = ""
    edited_at: datetime | None = None
    valid_from: date | None = None
    """The first day (UTC) on which it is given; None: at once."""
    valid_until: date | None = None
    """The last day; None: for good."""
    hits: int = 0
    """How often it was given to visitors."""
    last_given: datetime | None = None
    content_check: ContentCheck | None = None
    """None until the pages were asked, and after each change."""

    def state(self, today: date) -> CuratedState:
        """On the day (UTC) `today`."""
        if not self.enabled:
            return CuratedState.OFF
        if self.valid_from and today < self.valid_from:
            return CuratedState.NOT_YET
        if self.valid_until and today > self.valid_until:
            return CuratedState.ENDED
        return CuratedState.ON

    @classmethod
    def checked(
        cls,
        site_id: str,
        questions: Sequence[str],
        text: str,
        links: Sequence[str] = (),
        language: str = "",
        days: tuple[str, str] = ("", ""),
    ) -> CuratedAnswer:
        """From what an operator typed; `days` are the first and the last one.

        Raises ValueError, whose message says what to do.
        """
        asked = tuple(dict.fromkeys(" ".join(question.split()) for question in questions if question.strip()))
        if not asked:
            raise ValueError("write the question that the answer is for")
        if not text.strip():
            raise ValueError("write the answer")
        if len(text) > LONGEST or any(len(question) > LONGEST_QUESTION for question in asked):
            raise ValueError(
                f"keep to {LONGEST} characters for the answer, {LONGEST_QUESTION} for a question"
            )
        pages = tuple(dict.fromkeys(link.strip() for link in links if link.strip()))
        for page in pages:
            if not re.fullmatch(r"https?://[^\s<>\"]+", page):
                raise ValueError(f"{page!r} is not an address that starts with http:// or https://")
        tag = language.strip().lower()
        if tag and not re.fullmatch(r"[a-z]{2,3}", tag):
            raise ValueError(f"{language!r} is not a language code such as en or de; leave it empty for any")
        first, last = map(_day, days)
        if first and last and last < first:
            raise ValueError("the last day is before the first day")
        return cls(site_id, asked, text.strip(), pages, tag, valid_from=first, valid_until=last)


def _day(text: str) -> date | None:
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a day such as 2025-12-31") from None


COLUMNS = ("question", "answer", "alternatives", "links", "language", "from", "until", "enabled")
NEEDED = ("question", "answer")
LARGEST = 5_000_000
"""Bytes of a file."""
MOST = 5_000
"""Answers in a file."""
MANY = 20
"""Errors reported at once."""
_OFF = frozenset({"0", "no", "off", "false"})
_ON = frozenset({"", "1", "yes", "on", "true"})
# A spreadsheet takes text that begins like this for a formula; the mark before it is taken off again.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class CuratedFileError(ValueError):
    """What is wrong, line by line."""

    def __init__(self, errors: Sequence[tuple[int, str]]) -> None:
        """`errors` are (line, what to do); line 0 is the whole file."""
        self.errors = tuple(errors)
        super().__init__("; ".join(f"line {line}: {said}" if line else said for line, said in errors))


def written_csv(answers: Sequence[CuratedAnswer]) -> str:
    """Return CSV with a header row; alternatives and links of an answer are lines of one cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for answer in answers:
        row = _row(answer)
        cells = (row[name] for name in COLUMNS)
        lines = ("\n".join(cell) if isinstance(cell, list) else str(cell) for cell in cells)
        writer.writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in lines])
    return text.getvalue()


def written_jsonl(answers: Sequence[CuratedAnswer]) -> str:
    """One object a line."""
    return "".join(json.dumps(_row(answer), ensure_ascii=False) + "\n" for answer in answers)


def read_answers(site_id: str, data: bytes, *, is_json: bool) -> list[CuratedAnswer]:
    """The answers of a file. Raises CuratedFileError: then none of it is to be stored."""
    if len(data) > LARGEST:
        raise CuratedFileError([(0, f"the file is larger than {LARGEST // 1_000_000} MB; split it")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CuratedFileError([(line, "this is not UTF-8; save the file as UTF-8")]) from None
    rows = list(_json_rows(text) if is_json else _csv_rows(text))
    made: list[CuratedAnswer] = []
    errors: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for line, read in rows:
        try:
            answer = _answer(site_id, read())
            first = seen.setdefault(answer.questions[0], line)
            if first != line:
                raise ValueError(f"the same question is already on line {first}")
            made.append(answer)
        except ValueError as error:
            errors.append((line, str(error)))
    if len(rows) > MOST:
        errors.insert(0, (0, f"the file has more than {MOST} answers; split it"))
    if not rows:
        errors.append((0, "the file has no answer in it"))
    if errors:
        raise CuratedFileError(errors[:MANY])
    return made


def _row(answer: CuratedAnswer) -> dict[str, object]:
    return {
        "question": answer.questions[0],
        "answer": answer.text,
        "alternatives": list(answer.questions[1:]),
        "links": list(answer.links),
        "language": answer.language,
        "from": answer.valid_from.isoformat() if answer.valid_from else "",
        "until": answer.valid_until.isoformat() if answer.valid_until else "",
        "enabled": "yes" if answer.enabled else "no",
    }


_Row = dict[str, object]
_ReadRow = Callable[[], _Row]
"""Returns the row of a line. Raises ValueError."""


def _csv_rows(text: str) -> Iterator[tuple[int, _ReadRow]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST))
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            if header is None:
                header = [cell.strip().lower() for cell in cells]
                _check_header(header)
            elif any(cell.strip() for cell in cells):
                yield line, partial(_of_cells, header, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise CuratedFileError([(line, f"this cannot be read as CSV: {error}")]) from None


def _check_header(header: Sequence[str]) -> None:
    missing = [name for name in NEEDED if name not in header]
    if missing:
        said = f"the first line lacks the column {' and '.join(missing)}; it names {', '.join(COLUMNS)}"
        raise CuratedFileError([(1, said)])
    unknown = [name for name in header if name and name not in COLUMNS]
    if unknown:
        said = f"the column {unknown[0]!r} is not known; there are {', '.join(COLUMNS)}"
        raise CuratedFileError([(1, said)])


def _of_cells(header: Sequence[str], cells: Sequence[str]) -> _Row:
    if len(cells) > len(header):
        raise ValueError(f"there are {len(cells)} cells for {len(header)} columns; put quotes around commas")
    plain = [cell[1:] if _FORMULA.match(cell) and cell.startswith("'") else cell for cell in cells]
    row: _Row = dict(zip(header, plain, strict=False))
    for name in ("alternatives", "links"):
        row[name] = str(row.get(name, "")).splitlines()
    return row


def _json_rows(text: str) -> Iterator[tuple[int, _ReadRow]]:
    # Only these end a line: other separators may stand inside of a string.
    lines = enumerate(re.split(r"\r\n|\n|\r", text), 1)
    return ((number, partial(_of_json, line)) for number, line in lines if line.strip())


def _of_json(line: str) -> _Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError("write an object with a question and an answer")
    unknown = sorted(set(row) - set(COLUMNS))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known; there are {', '.join(COLUMNS)}")
    for name, value in row.items():
        if name in ("alternatives", "links"):
            if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
                raise ValueError(f"{name} must be a list of texts")
        elif name == "enabled" and isinstance(value, bool):
            row[name] = "yes" if value else "no"
        elif value is None:
            row[name] = ""
        elif not isinstance(value, str):
            raise ValueError(f"{name} must be a text")
    return row


def _answer(site_id: str, row: _Row) -> CuratedAnswer:
    """Raises ValueError."""
    text = {name: str(row.get(name, "")) for name in COLUMNS}
    enabled = text["enabled"].strip().lower()
    if enabled not in _ON | _OFF:
        raise ValueError(f"enabled is yes or no, not {enabled!r}")
    if not text["question"].strip():
        raise ValueError("write the question that the answer is for")
    made = CuratedAnswer.checked(
        site_id,
        [text["question"], *_texts(row.get("alternatives"))],
        text["answer"],
        _texts(row.get("links")),
        text["language"],
        (text["from"], text["until"]),
    )
    return replace(made, enabled=enabled in _ON)


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
