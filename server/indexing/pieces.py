"""A block of a page cut into pieces that fit: at lines, then at sentences, then at words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.page import Block
from server.domain.sentences import lines, split_sentences

FENCE = "```"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block; pieces of one block are joined by `glue` again when they share a chunk."""

    text: str
    block: int
    glue: str
    is_sentence: bool = False
    """Whether it may be repeated as overlap: whole sentences of a paragraph only."""


def pieces(block: Block, number: int, limit: int) -> list[Piece]:
    """The block's pieces in order, each at most `limit` characters."""
    if block.kind == "code":
        return _code(block.text.strip("\n"), number, limit)
    if block.kind == "text":
        return [piece for line in block.text.split("\n") for piece in _prose(line, number, limit)]
    return [
        Piece(text, number, "\n")
        for marker, content in lines(block.text)
        for text in _line(marker, content, limit)
    ]


def _prose(line: str, number: int, limit: int) -> Iterator[Piece]:
    for sentence in split_sentences(line):
        if len(sentence) <= limit:
            yield Piece(sentence, number, " ", is_sentence=True)
        else:
            yield from (Piece(part, number, " ") for part in cut(sentence, limit))


def _line(marker: str, content: str, limit: int) -> list[str]:
    """A list item or table row; the marker stays with its first part."""
    if len(marker) + len(content) <= limit:
        return [marker + content]
    room = limit - len(marker)
    parts: list[str] = []
    for sentence in split_sentences(content):
        for part in cut(sentence, room):
            if parts and len(parts[-1]) + 1 + len(part) <= room:
                parts[-1] = f"{parts[-1]} {part}"
            else:
                parts.append(part)
    return [marker + parts[0], *parts[1:]] if parts else []


def _code(text: str, number: int, limit: int) -> list[Piece]:
    """Whole when it fits, otherwise cut at lines; every piece has fences of its own."""
    room = limit - 2 * len(FENCE) - 2
    groups: list[str] = []
    for line in text.split("\n"):
        for part in cut(line, room) if len(line) > room else [line]:
            if groups and len(groups[-1]) + 1 + len(part) <= room:
                groups[-1] = f"{groups[-1]}\n{part}"
            else:
                groups.append(part)
    return [Piece(f"{FENCE}\n{group}\n{FENCE}", number, "\n\n") for group in groups if group.strip()]


def cut(text: str, limit: int) -> list[str]:
    """Parts of at most `limit` characters: at white space where there is some, else anywhere."""
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        window = rest[: limit + 1]
        spaces = [match.start() for match in re.finditer(r"\s", window)]
        end = spaces[-1] if spaces and spaces[-1] > limit // 2 else limit
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [part for part in (*parts, rest) if part]
