"""Splits pages into chunks: by headings first, then blocks, then sentences, then size.

A chunk never mixes two sections, even short ones, so that its heading path is true for every line in it. The
heading alone often matches a question. Inside a section, blocks are packed into chunks of about equal size,
and neighbours share whole sentences.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil

from crawler.page import Block, Page
from server.domain.chunk import Chunk
from server.domain.sentences import lines, split_sentences
from server.languages.detector import piece_language

FENCE = "```"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block. Pieces of one block that share a chunk are joined by `glue` again."""

    text: str
    block: int
    glue: str
    is_sentence: bool = False
    """Whether it is a whole sentence of a paragraph, which may be repeated as overlap."""


def pieces(block: Block, number: int, limit: int) -> list[Piece]:
    """Return the block's pieces in order, each of at most `limit` characters."""
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
    """Split a list item or table row. The marker stays with its first part."""
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
    """Split code at lines if it is too long. Every piece has its own fences."""
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
    """Split text into parts of at most `limit` characters, at white space if possible."""
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        window = rest[: limit + 1]
        spaces = [match.start() for match in re.finditer(r"\s", window)]
        end = spaces[-1] if spaces and spaces[-1] > limit // 2 else limit
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [part for part in (*parts, rest) if part]


MARGIN = 1.1
"""How much a chunk may exceed the even share of its section, so that no short rest is left."""


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Sizes in characters."""

    most: int = 1000
    overlap: int = 100


def chunk_page(page: Page, sizes: ChunkSizes) -> list[Chunk]:
    """Return the chunks of a page in page order, each of at most `sizes.most` characters."""
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks: list[Chunk] = []
    # A chunk is in one language, and on one page of a PDF, so that its link opens that page.
    places = groupby(page.blocks, key=lambda block: (block.heading_path, block.anchor, block.language))
    for (path, anchor, language), group in places:
        section = list(group)
        for text in _texts(section, sizes):
            seen[path, text] += 1
            chunks.append(
                Chunk(
                    id=_chunk_id(page.url, path, text, seen[path, text]),
                    url=page.url,
                    title=page.title,
                    heading_path=path,
                    text=text,
                    position=len(chunks),
                    language=piece_language(text, language or page.language),
                    anchor=anchor,
                )
            )
    return chunks


def _chunk_id(url: str, path: tuple[str, ...], text: str, occurrence: int) -> str:
    fields = (url, "\x1f".join(path), text, str(occurrence))
    return hashlib.sha256("\x1e".join(fields).encode("utf-8", "replace")).hexdigest()[:32]


def _texts(section: Sequence[Block], sizes: ChunkSizes) -> Iterator[str]:
    headers = {number: _header(block, sizes.most) for number, block in enumerate(section)}
    # A repeated header row needs room in the chunks that it is repeated in.
    room = {
        number: sizes.most - len(header) - 1 if header else sizes.most for number, header in headers.items()
    }
    found = [piece for number, block in enumerate(section) for piece in pieces(block, number, room[number])]
    total = sum(len(piece.text) + len(piece.glue) for piece in found)
    share = ceil(total / max(1, ceil(total / sizes.most))) * MARGIN
    chunk: list[Piece] = []
    for piece in found:
        if chunk and _too_long([*chunk, piece], sizes.most, share):
            yield _joined(chunk)
            chunk = _opening(chunk, piece, headers, sizes)
        chunk.append(piece)
    if chunk:
        yield _joined(chunk)


def _too_long(chunk: Sequence[Piece], most: int, share: float) -> bool:
    size = len(_joined(chunk))
    # A chunk ends at its even share, unless less than half of this piece is beyond it.
    return size > most or (size > share and size - share > len(chunk[-1].text) / 2)


def _opening(
    before: Sequence[Piece], piece: Piece, headers: dict[int, str], sizes: ChunkSizes
) -> list[Piece]:
    """Return the overlap with the previous chunk: its last sentences, or the header row of a table."""
    header = headers[piece.block]
    if before[-1].block == piece.block and header:
        return [Piece(header, piece.block, "\n")]
    repeated: list[Piece] = []
    for earlier in reversed(before):
        size = sum(len(p.text) + 1 for p in (earlier, *repeated))
        if not earlier.is_sentence or size > sizes.overlap or size + 1 + len(piece.text) > sizes.most:
            break
        repeated.insert(0, earlier)
    return repeated if len(repeated) < len(before) else []


def _header(block: Block, most: int) -> str:
    """Return the first row of a table that is too long for one chunk; "" for other blocks."""
    first, newline, _ = block.text.partition("\n")
    fits = newline and len(first) <= most // 4
    return first if block.kind == "table" and fits and len(block.text) > most else ""


def _joined(chunk: Sequence[Piece]) -> str:
    text = chunk[0].text
    for before, piece in pairwise(chunk):
        text += (piece.glue if before.block == piece.block else "\n\n") + piece.text
    return text
