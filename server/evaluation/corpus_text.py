"""The text of a document without markup, read as a page: paragraphs, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crawler.page import Block

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
    """Whether one paragraph was broken into lines of about the same length."""
    least, most = WRAPPED
    full = [line for line in lines[:-1] if least <= len(line) <= most]
    open_ended = [line for line in lines[:-1] if not line.endswith(_ENDS)]
    return len(full) == len(lines) - 1 and 2 * len(open_ended) >= len(lines) - 1


def _is_code(lines: Sequence[str]) -> bool:
    """Whether a text without marks of code is code all the same."""
    written = [line for line in lines if line.strip()]
    alike = sum(bool(_CODE_LINE.search(line)) for line in written)
    return alike >= FEWEST_CODE_LINES and alike >= CODE_SHARE * len(written)
