"""Curated answers as files: CSV for spreadsheets, JSON Lines for programs. What was written is read back
exactly."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.domain.curated import CuratedAnswer

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
    """With a header; several alternatives or links stand on lines of a cell."""
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
    for line, row in rows:
        try:
            answer = _answer(site_id, row)
            first = seen.setdefault(answer.questions[0], line)
            if first != line:
                raise ValueError(f"the same question stands on line {first} already")
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


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, object] | ValueError]]:
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
                yield line, _of_cells(header, cells)
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


def _of_cells(header: Sequence[str], cells: Sequence[str]) -> dict[str, object] | ValueError:
    if len(cells) > len(header):
        return ValueError(f"there are {len(cells)} cells for {len(header)} columns; put quotes around commas")
    plain = [cell[1:] if _FORMULA.match(cell) and cell.startswith("'") else cell for cell in cells]
    row: dict[str, object] = dict(zip(header, plain, strict=False))
    for name in ("alternatives", "links"):
        row[name] = str(row.get(name, "")).splitlines()
    return row


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, object] | ValueError]]:
    # Only these end a line: other separators may stand inside of a string.
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            yield number, ValueError(f"this is not JSON: {error}")
            continue
        yield number, _of_json(row)


def _of_json(row: object) -> dict[str, object] | ValueError:
    if not isinstance(row, dict):
        return ValueError("write an object with a question and an answer")
    unknown = sorted(set(row) - set(COLUMNS))
    if unknown:
        return ValueError(f"{unknown[0]!r} is not known; there are {', '.join(COLUMNS)}")
    for name, value in row.items():
        if name in ("alternatives", "links"):
            if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
                return ValueError(f"{name} must be a list of texts")
        elif name == "enabled" and isinstance(value, bool):
            row[name] = "yes" if value else "no"
        elif value is None:
            row[name] = ""
        elif not isinstance(value, str):
            return ValueError(f"{name} must be a text")
    return row


def _answer(site_id: str, row: dict[str, object] | ValueError) -> CuratedAnswer:
    """Raises ValueError."""
    if isinstance(row, ValueError):
        raise row
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
