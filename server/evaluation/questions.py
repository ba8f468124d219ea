"""The question file: what is asked of a site, and what is known of the right answer.

JSON, one object a line; see `Case` for the fields. Only `question` is needed.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin

TYPES = (
    "lookup", "howto", "multi", "ambiguous", "typo", "followup", "crosslingual", "unanswerable", "injection",
)  # fmt: skip
_LISTS = ("expected_urls", "must", "must_not", "left_out")
_TEXTS = ("id", "lang", "type", "evidence", "answer")


class BadQuestionFile(Exception):
    """The file cannot be used; the message names the line."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question with what is known of its answer. What is unknown is empty and not judged."""

    id: str
    question: str
    lang: str = ""
    type: str = "lookup"
    history: tuple[tuple[str, str], ...] = ()
    """Earlier questions with their answers, oldest first."""
    expected_urls: tuple[str, ...] = ()
    """Pages that answer it, each by itself."""
    url_groups: tuple[tuple[str, ...], ...] = ()
    """A full answer needs a page of each group."""
    evidence: str = ""
    """Words of a page that carry the answer."""
    answer: str = ""
    must: tuple[str, ...] = ()
    """Patterns that a right answer matches."""
    must_not: tuple[str, ...] = ()
    """Patterns that no answer may match."""
    left_out: tuple[str, ...] = ()
    """Pages that are taken not to be indexed for this question."""
    spellings: tuple[tuple[str, ...], ...] = ()
    """expected_urls again: the addresses that may be meant by one together."""
    gains: tuple[float, ...] = ()
    """How much each of expected_urls is worth, where the set grades them; otherwise 1 each."""

    @property
    def is_answerable(self) -> bool:
        """Return whether the site is known to have the answer."""
        return bool(self.expected_urls or self.url_groups) and self.type not in ("unanswerable", "injection")

    @property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What a ranking is to hold: of each of these a page."""
        return self.url_groups or self.spellings or tuple((url,) for url in self.expected_urls)

    def to_json(self) -> dict[str, object]:
        """Every field that says something."""
        return {name: value for name, value in asdict(self).items() if value or name in ("id", "question")}


def read_questions(path: Path, base_url: str) -> list[Case]:
    """The cases of a file in its order; paths become addresses under `base_url`. Raises BadQuestionFile."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestionFile(f"{path} cannot be read as UTF-8 text: {error}") from None
    # Only these end a line: JSON may hold other separators as they are.
    cases = [
        case_of_line(line, f"{path} line {number}", str(number), base_url)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if not cases:
        raise BadQuestionFile(f"{path} holds no questions; write one JSON object a line")
    for name, times in Counter(case.id for case in cases).items():
        if times > 1:
            raise BadQuestionFile(f'{path}: the id "{name}" is on two lines; each line needs its own')
    return cases


def case_of_line(line: str, where: str, number: str, base_url: str) -> Case:
    """The case of one line; `where` says in messages which one it is, `number` is its id if it has none.
    Raises BadQuestionFile."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadQuestionFile(f"{where} is not JSON: {error}") from None
    if not isinstance(value, dict) or not str(value.get("question") or "").strip():
        raise BadQuestionFile(f'{where} needs an object with a "question"')
    for name in _LISTS:
        if not _is_texts(value.get(name) or []):
            raise BadQuestionFile(f'{where}: "{name}" must be a list of texts')
    for pattern in (*(value.get("must") or []), *(value.get("must_not") or [])):
        _check_pattern(pattern, where)
    groups = value.get("url_groups") or []
    if not isinstance(groups, list) or not all(_is_texts(group) for group in groups):
        raise BadQuestionFile(f'{where}: "url_groups" must be a list of lists of addresses')
    texts: dict[str, Any] = {name: str(value[name]) for name in _TEXTS if value.get(name) is not None}
    return Case(
        **{"id": number, **texts},
        question=str(value["question"]),
        history=_history(value.get("history") or [], where),
        expected_urls=_addresses(value.get("expected_urls") or [], base_url),
        spellings=tuple(_addresses([url], base_url) for url in value.get("expected_urls") or []),
        url_groups=tuple(_addresses(group, base_url) for group in groups),
        must=tuple(value.get("must") or []),
        must_not=tuple(value.get("must_not") or []),
        left_out=_addresses(value.get("left_out") or [], base_url),
    )


def _history(value: object, where: str) -> tuple[tuple[str, str], ...]:
    turns = cast("list[dict[str, object]]", value if isinstance(value, list) else [None])
    if not all(isinstance(turn, dict) and turn.get("question") for turn in turns):
        raise BadQuestionFile(f'{where}: "history" must be a list of objects with "question" and "answer"')
    return tuple((str(turn["question"]), str(turn.get("answer") or "")) for turn in turns)


def _addresses(values: Sequence[str], base_url: str) -> tuple[str, ...]:
    """Of a site in a folder, "/a.html" may be meant from the folder or from the host: either is right."""
    found: list[str] = []
    for value in values:
        if re.match(r"https?://", value):
            found.append(value)
        else:
            found += [urljoin(base_url, value.lstrip("/")), urljoin(base_url, value)]
    return tuple(dict.fromkeys(found))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check_pattern(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise BadQuestionFile(f"{where}: {pattern!r} is not a regular expression: {error}") from None
