"""Cuts a model's answer into claims while it is being written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from server.domain.answer import Claim
from server.domain.sentences import split_sentences

_MARKER = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
_BREAK = re.compile(r"\n+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def claims(pieces: Iterable[str]) -> Iterator[Claim]:
    """One claim per sentence, list item, table row or code block, as soon as it is complete.

    Markers such as [2] or [1, 3] become the claim's sources (from 0) and leave its text. A sentence
    is complete when the next one has begun, since its markers may stand behind its full stop.
    """
    waiting, before = "", ""
    for piece in pieces:
        waiting += piece
        while (cut := _first_complete(waiting)) is not None:
            done, waiting = waiting[: cut[0]], waiting[cut[1] :]
            if done.strip():
                yield _claim(done, before)
                before = ""
            before = _joined(before, cut[2])
    for number, part in enumerate(_last_parts(waiting)):
        if part.strip():
            yield _claim(part, before if number == 0 else " ")


def _first_complete(text: str) -> tuple[int, int, str] | None:
    """(end of the first claim, start of the rest, what joins them), or None while it may go on."""
    if text.lstrip().startswith("```"):
        close = re.search(r"```.*?\n.*?\n```[ \t]*(\[\d+\])*\n", text, re.S)
        return (close.end() - 1, close.end(), "\n\n") if close else None
    line_end = _BREAK.search(text)
    line = text[: line_end.start()] if line_end else text
    if line.lstrip().startswith("|"):  # a table row is one claim, however many sentences it has
        return (line_end.start(), line_end.end(), line_end.group()[:2]) if line_end else None
    marker = _ITEM.match(line)
    body = marker.end() if marker else 0
    sentences = split_sentences(line[body:])
    if len(sentences) > 1:
        first_end = line.find(sentences[0], body) + len(sentences[0])
        markers = re.match(r"(?:\s*\[\d+(?:\s*,\s*\d+)*\])*", line[first_end:])
        end = first_end + (markers.end() if markers else 0)
        rest = line[end:].strip()
        # The rest may still grow into a marker of this sentence.
        if rest and (line_end or not re.fullmatch(r"\[[\d\s,]*", rest)):
            return end, end, " "
    if line_end and line_end.end() < len(text):
        return line_end.start(), line_end.end(), line_end.group()[:2]
    return None


def _last_parts(text: str) -> list[str]:
    return [text] if text.lstrip().startswith(("```", "|")) else _BREAK.split(text)


def _claim(text: str, before: str) -> Claim:
    sources = [int(n) - 1 for found in _MARKER.findall(text) for n in re.split(r"\s*,\s*", found)]
    code = text.lstrip().startswith("```")
    shown = text.strip("\n") if code else _MARKER.sub("", text).strip()
    return Claim(shown, tuple(dict.fromkeys(n for n in sources if n >= 0)), before=before)


def _joined(one: str, two: str) -> str:
    return max((one, two), key=lambda gap: (gap.count("\n"), len(gap)))
