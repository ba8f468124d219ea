"""A corpus in BEIR form: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/*.tsv.

Documents have `_id`, `text`, mostly `title`, and may have `lang`. Queries have `_id` and `text`, and may have
`lang`, `type`, `answer`, `history`, and a mark that the corpus does not answer them: a `type` of
"unanswerable" or "null", an `answerability` of "UNANSWERABLE", `answerable` false or `is_impossible` true.
A query without qrels that has no such mark is asked and its ranking is not judged.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from crawler.page import Block, Page, content_hash
from server.evaluation.questions import BadQuestionFile, Case

_FENCE = re.compile(r"^[ \t]*```.*$", re.M)
_BULLET = re.compile(r"^(?P<indent>\s*)[-*•·▪–‣]\s+(?=\S)")
_NUMBER = re.compile(r"^(?P<indent>\s*)\d{1,3}[.)]\s+(?=\S)")
_CODE_LINE = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|fn|func|pub|impl|import|from|return|const|let|var|if|for|while|elif|else|"
    r"try|except|match|struct|enum|static|void|public|private|package|using|#include|@\w+)\b.*[:({;=]?\s*$"
    r"|^\s*(?://|#!|/\*|\*/)|\w+\(.*\)\s*[:;{]?\s*$|^\s*[\w.\[\]]+\s*[-+*]?=\s*\S"
)
CODE_SHARE = 0.6
"""Share of the lines that must look like code."""
FEWEST_CODE_LINES = 3
WRAPPED = (50, 110)
"""Characters that lines have which were wrapped by hand."""
_ENDS = (".", "!", "?", ":", "。", "！", "？", "…", '"', "”", ")")


def blocks_of(title: str, text: str) -> tuple[Block, ...]:
    """In the line conventions of `crawler.page`. A first line that repeats the title is left out."""
    text = text.replace("\r\n", "\n").replace("\x00", "").strip("\n")
    first, _, rest = text.partition("\n")
    if title.strip() and first.strip().casefold() == title.strip().casefold() and rest.strip():
        text = rest
    return tuple(_blocks(text))


def _blocks(text: str) -> Iterator[Block]:
    if not _FENCE.search(text) and _is_code(text.split("\n")):
        yield Block(text.strip("\n"), kind="code")
        return
    for number, part in enumerate(_FENCE.split(text)):
        if number % 2:
            if part.strip():
                yield Block(part.strip("\n"), kind="code")
            continue
        for paragraph in re.split(r"\n\s*\n", part):
            lines = [line.rstrip() for line in paragraph.split("\n") if line.strip()]
            if lines:
                yield from _paragraph(lines)


def _paragraph(lines: Sequence[str]) -> Iterator[Block]:
    if any(_BULLET.match(line) or _NUMBER.match(line) for line in lines):
        yield from _with_items(lines)
    elif all("\t" in line.strip() for line in lines):
        yield Block("\n".join(line.strip() for line in lines), kind="table")
    elif len(lines) == 1 or _is_wrapped(lines):
        yield Block(" ".join(" ".join(lines).split()))
    else:
        # Lines that were set apart stay apart: turns of a chat, entries, addresses.
        yield Block("\n".join(" ".join(line.split()) for line in lines), kind="list")


def _with_items(lines: Sequence[str]) -> Iterator[Block]:
    """What stands before the first item is a paragraph; a line without a marker goes on with its item."""
    before: list[str] = []
    items: list[str] = []
    for line in lines:
        if found := _BULLET.match(line) or _NUMBER.match(line):
            marker = "- " if _BULLET.match(line) else "1. "
            indent = "  " * min(3, len(found["indent"].expandtabs(4)) // 2)
            items.append(indent + marker + " ".join(line[found.end() :].split()))
        elif items:
            items[-1] += " " + " ".join(line.split())
        else:
            before.append(line)
    if before:
        yield Block(" ".join(" ".join(before).split()))
    yield Block("\n".join(items), kind="list")


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Return whether one paragraph was broken into lines of about the same length."""
    least, most = WRAPPED
    full = [line for line in lines[:-1] if least <= len(line) <= most]
    open_ended = [line for line in lines[:-1] if not line.endswith(_ENDS)]
    return len(full) == len(lines) - 1 and 2 * len(open_ended) >= len(lines) - 1


def _is_code(lines: Sequence[str]) -> bool:
    """Return whether a text without marks of code is code all the same."""
    written = [line for line in lines if line.strip()]
    alike = sum(bool(_CODE_LINE.search(line)) for line in written)
    return alike >= FEWEST_CODE_LINES and alike >= CODE_SHARE * len(written)


DOCUMENTS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
CORPUS = "corpus"
"""Name of the option of a site that tells from which folder it was made."""
FORM = 1
"""Raise it when documents are read differently: corpora are then indexed again."""
_UNANSWERABLE_TYPES = frozenset({"unanswerable", "null", "unanswered", "no_answer", "impossible"})
_UNCLEAR = frozenset({"UNDERSPECIFIED", "AMBIGUOUS"})
_VISITORS = frozenset({"user", "visitor", "human", "question", "customer"})


@dataclass(frozen=True)
class Corpus:
    """One folder. Raises BadQuestionFile, which names the file and the line, when it is read."""

    folder: Path

    @cached_property
    def name(self) -> str:
        """The folder's name, fit for an id."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.folder.resolve().name.lower()).strip("-")
        return plain[:32].strip("-") or "corpus"

    @cached_property
    def digest(self) -> str:
        """Digest of the documents and of how they are read."""
        digest = hashlib.sha256(f"form {FORM}".encode())
        try:
            with (self.folder / DOCUMENTS).open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        except OSError as error:
            raise BadQuestionFile(
                f"{self.folder} is not in BEIR form: {DOCUMENTS}: {error.strerror}"
            ) from None
        return digest.hexdigest()

    @cached_property
    def origin(self) -> str:
        """Origin of the pages that stand for the documents; its name can never be that of a real host."""
        return f"http://{self.name}.invalid"

    def address(self, document: str) -> str:
        """Address of the page that stands for a document; it carries the document's id."""
        # Escaped twice, so that a slash in the id never becomes one of the path.
        safe = document.replace("%", "%25").replace("/", "%2F")
        return f"{self.origin}/{quote(safe, safe='')}"

    def pages(self) -> Iterator[Page]:
        """Each document as a page."""
        seen: set[str] = set()
        for where, row in _rows(self.folder / DOCUMENTS):
            document, text = str(row.get("_id") or ""), row.get("text")
            if not document or not isinstance(text, str):
                raise BadQuestionFile(f'{where} needs "_id" and "text"')
            if document in seen:
                raise BadQuestionFile(
                    f'{where}: the id "{document}" is on two lines; each line needs its own'
                )
            seen.add(document)
            title = " ".join(str(row.get("title") or "").split())
            language = str(row.get("lang") or row.get("language") or "").lower().split("-")[0]
            blocks = blocks_of(title, text if text.strip() else title)
            if blocks:
                hashed = content_hash(title, blocks)
                yield Page(self.address(document), title, language, blocks, content_hash=hashed)

    def cases(self) -> list[Case]:
        """The queries in their order. Of a corpus with qrels in a folder, those that the chosen part of it
        speaks of, and those that are marked as unanswerable."""
        gains, is_part = self._qrels()
        cases = []
        for where, row in _rows(self.folder / QUERIES):
            case = self._case(where, row, gains.get(str(row.get("_id")), {}))
            if case.is_answerable or case.type == "unanswerable" or not is_part:
                cases.append(case)
        if not cases:
            raise BadQuestionFile(f"{self.folder / QUERIES} holds no questions that can be asked")
        return cases

    def _case(self, where: str, row: Mapping[str, Any], gains: Mapping[str, float]) -> Case:
        if not row.get("_id") or not str(row.get("text") or "").strip():
            raise BadQuestionFile(f'{where} needs "_id" and "text"')
        history = _history(row.get("history"), where)
        kind = _kind(row, history)
        right = {} if kind in ("unanswerable", "ambiguous") else gains
        graded = any(gain != 1 for gain in right.values())
        return Case(
            id=str(row["_id"]),
            question=str(row["text"]),
            lang=str(row.get("lang") or row.get("language") or ""),
            type=kind,
            history=history,
            expected_urls=tuple(self.address(document) for document in right),
            answer=_text(row.get("answer")),
            gains=tuple(right.values()) if graded else (),
        )

    def _qrels(self) -> tuple[dict[str, dict[str, float]], bool]:
        """Gains by query, and whether they are one part of a set that has several."""
        single, folder = self.folder / f"{QRELS}.tsv", self.folder / QRELS
        if single.is_file():
            return _gains([single]), False
        parts = sorted(folder.glob("*.tsv"))
        if not parts:
            raise BadQuestionFile(f"{self.folder} is not in BEIR form: it needs {QRELS}.tsv or {QRELS}/*.tsv")
        test = [part for part in parts if part.stem == "test"]
        return _gains(test or parts), True


def _kind(row: Mapping[str, Any], history: tuple[tuple[str, str], ...]) -> str:
    """The query's own type, unless it is marked as one that cannot be answered, or not as it stands."""
    told, mark = _text(row.get("type")), _text(row.get("answerability")).upper()
    if (
        told.lower() in _UNANSWERABLE_TYPES
        or mark == "UNANSWERABLE"
        or row.get("answerable") is False
        or row.get("is_impossible") is True
    ):
        return "unanswerable"
    if mark in _UNCLEAR:
        return "ambiguous"
    return told or ("followup" if history else "lookup")


def _history(value: object, where: str) -> tuple[tuple[str, str], ...]:
    """Turns as {question, answer}, or messages as {role, text} in which an answer follows its question."""
    turns: list[tuple[str, str]] = []
    rows = value if isinstance(value, list) else [] if value is None else [value]
    for row in rows:
        if not isinstance(row, dict):
            raise BadQuestionFile(f'{where}: "history" must be a list of objects')
        text = str(row.get("text") or row.get("content") or "")
        if row.get("question"):
            turns.append((str(row["question"]), str(row.get("answer") or "")))
        elif str(row.get("role") or row.get("speaker") or "").lower() in _VISITORS:
            turns.append((text, ""))
        elif turns:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{text}".strip())
    return tuple(turn for turn in turns if turn[0].strip())


def _gains(files: list[Path]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for file in files:
        for number, line in enumerate(_lines(file), 1):
            cells = line.split("\t") if "\t" in line else line.split()
            if len(cells) == 4:
                cells = [cells[0], *cells[2:]]  # TREC's form has a column more
            try:
                query, document, score = cells[0], cells[1], float(cells[2])
            except (IndexError, ValueError):
                if number == 1:
                    continue  # the header
                raise BadQuestionFile(
                    f"{file} line {number} needs query id, document id and score with tabs between"
                ) from None
            if score > 0:
                found.setdefault(query, {})[document] = score
    return found


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(_lines(file), 1):
        where = f"{file} line {number}"
        try:
            row = orjson.loads(line)
        except ValueError as error:
            raise BadQuestionFile(f"{where} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise BadQuestionFile(f"{where} needs a JSON object")
        yield where, row


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as lines:
            yield from (line.rstrip("\r\n") for line in lines if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestionFile(f"{file} cannot be read as UTF-8 text: {error}") from None


def _text(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(str(item) for item in value)
    return str(value) if value is not None else ""
