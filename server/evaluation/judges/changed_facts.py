"""Passages in which the fact that answers a question was changed into another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from server.evaluation.judges.embedded import SHORT

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_COUNT_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fourteen", "fifteen",
    "twenty", "thirty", "forty", "sixty", "ninety", "hundred",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """One fact of a passage and what stands in its place."""

    text: str
    """The whole passage with the other fact."""
    true: str
    false: str


def changed_fact(passage: str, reference: str, others: Sequence[str]) -> ChangedFact | None:
    """The passage with the first fact changed that it shares with `reference`: a short answer becomes one of
    `others` (answers to other questions), a number another number. None where no such fact is found."""
    if 0 < len(reference.split()) <= SHORT and not _NUMBER.search(reference):
        found = re.search(rf"(?<!\w){re.escape(reference.strip(' .'))}(?!\w)", passage, re.I)
        known = passage.casefold()
        other = next((text for text in others if text.casefold() not in known and text != reference), "")
        if found and other:
            return _changed(passage, found.group(), other)
    for number in _NUMBER.findall(reference):
        if re.search(rf"(?<![\w.,]){re.escape(number)}(?!\w)", passage):
            return _changed(passage, number, _other_number(number))
    words = {word.casefold() for word in re.findall(r"[A-Za-z]+", reference)}
    for place, word in enumerate(_COUNT_WORDS):
        found = re.search(rf"(?<!\w){word}(?!\w)", passage, re.I)
        if word in words and found:
            return _changed(passage, found.group(), _COUNT_WORDS[(place + 5) % len(_COUNT_WORDS)])
    return None


def states(text: str, fact: str) -> bool:
    """Whether a text names the fact, as words of its own."""
    return bool(re.search(rf"(?<![\w.,]){re.escape(fact)}(?!\w)", text, re.I))


def _changed(passage: str, true: str, false: str) -> ChangedFact | None:
    text = re.sub(rf"(?<![\w.,]){re.escape(true)}(?!\w)", lambda _: false, passage, flags=re.I)
    return ChangedFact(text, true, false) if text != passage else None


def _other_number(number: str) -> str:
    """Of the same form; another one in every digit."""
    return re.sub(r"\d", lambda digit: str((int(digit.group()) + 2) % 9 + 1), number)
