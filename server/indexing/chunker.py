"""Splits pages into chunks: by headings first, then blocks, then sentences, then size.

A chunk never mixes two sections, even short ones, so that its heading path is true for every line in it. The
heading alone often matches a question. Inside a section, blocks are packed into chunks of about equal size,
and neighbours share whole sentences.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil

from crawler.page import PICTURE, Block, Page
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
    item: int = 0
    """Of a list: the number of the outermost item that it is part of."""


def pieces(block: Block, number: int, limit: int) -> list[Piece]:
    """Return the block's pieces in order, each of at most `limit` characters."""
    if block.kind == "code":
        return _code(block.text.strip("\n"), number, limit)
    if block.kind == "text":
        return [piece for line in block.text.split("\n") for piece in _prose(line, number, limit)]
    found, item = [], 0
    for marker, content in lines(block.text):
        item += block.kind == "list" and not (marker or content)[0].isspace()
        found += [Piece(text, number, "\n", item=item) for text in _line(marker, content, limit)]
    return found


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
    parts = _packed(
        (part for sentence in split_sentences(content) for part in cut(sentence, room)), room, " "
    )
    return [marker + parts[0], *parts[1:]] if parts else []


def _code(text: str, number: int, limit: int) -> list[Piece]:
    """Split code at lines if it is too long. Every piece has its own fences."""
    room = limit - 2 * len(FENCE) - 2
    parts = (part for line in text.split("\n") for part in (cut(line, room) if len(line) > room else [line]))
    groups = _packed(parts, room, "\n")
    return [Piece(f"{FENCE}\n{group}\n{FENCE}", number, "\n\n") for group in groups if group.strip()]


def _packed(parts: Iterable[str], room: int, glue: str) -> list[str]:
    """Join parts that follow each other as far as there is room; `glue` is one character."""
    packed: list[str] = []
    for part in parts:
        if packed and len(packed[-1]) + 1 + len(part) <= room:
            packed[-1] = f"{packed[-1]}{glue}{part}"
        else:
            packed.append(part)
    return packed


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
WHOLE_TABLE = 2
LEAD_SHARE = 0.24
"""Of the longest chunk; a longer paragraph introduces nothing."""


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
                    kind=page.kind,
                    dated=page.dated,
                    ended=page.ended,
                )
            )
    return chunks


def _chunk_id(url: str, path: tuple[str, ...], text: str, occurrence: int) -> str:
    fields = (url, "\x1f".join(path), text, str(occurrence))
    return hashlib.sha256("\x1e".join(fields).encode("utf-8", "replace")).hexdigest()[:32]


def _texts(section: Sequence[Block], sizes: ChunkSizes) -> Iterator[str]:
    headers = {number: _header(section, number, sizes.most) for number in range(len(section))}
    # What is repeated or stays with a block needs room in its chunks.
    room = {
        number: sizes.most - max(len(header), len(_lead(section, number, sizes.most))) - 2
        for number, header in headers.items()
    }
    found = [
        piece
        for number, block in enumerate(section)
        for piece in _whole_or_cut(block, number, room[number], sizes)
    ]
    total = sum(len(piece.text) + len(piece.glue) for piece in found)
    share = ceil(total / max(1, ceil(total / sizes.most))) * MARGIN
    chunk: list[Piece] = []
    for piece in found:
        if chunk and _too_long([*chunk, piece], sizes.most, share):
            end = _end(chunk, piece, section, sizes.most)
            if end:
                yield _joined(chunk[:end])
                moved = chunk[end:]
                is_item = bool(moved) and moved[0].block == piece.block
                chunk = (
                    moved
                    if moved and not is_item
                    else [*_opening(chunk[:end], piece, headers, sizes), *moved]
                )
        chunk.append(piece)
    if chunk:
        yield _joined(chunk)


def _whole_or_cut(block: Block, number: int, room: int, sizes: ChunkSizes) -> list[Piece]:
    """A table of up to twice the longest chunk stays whole: a price without its neighbours says less."""
    if block.kind == "table" and len(block.text) <= WHOLE_TABLE * sizes.most:
        return [Piece(block.text, number, "\n")]
    return pieces(block, number, room)


def _lead(section: Sequence[Block], number: int, most: int) -> str:
    """The short paragraph before a list, a table or code, which says what they are; "" without one."""
    if not number or section[number].kind == "text":
        return ""
    before = section[number - 1]
    is_text = before.kind == "text" and not before.text.startswith(PICTURE)
    return before.text if is_text and len(before.text) <= LEAD_SHARE * most else ""


def _end(chunk: Sequence[Piece], piece: Piece, section: Sequence[Block], most: int) -> int:
    """Return how many pieces of the chunk come before those that begin the next one with `piece`: the lead of
    a list, or the short beginning of the item that it continues."""
    start = len(chunk)
    if _continues(chunk[-1], piece):
        start = _item_start(chunk)
        if len(_joined(chunk[start:])) > LEAD_SHARE * most or (
            start and chunk[start - 1].block != piece.block
        ):
            return len(chunk)
        return start or len(chunk)
    if chunk[-1].block == piece.block or not _lead(section, piece.block, most):
        return start
    return sum(one.block < piece.block - 1 for one in chunk)


def _continues(before: Piece, piece: Piece) -> bool:
    return before.block == piece.block and before.item == piece.item > 0


def _item_start(chunk: Sequence[Piece]) -> int:
    """Return the place of the first piece of the item that the chunk ends with."""
    last = chunk[-1]
    return next(place for place, one in enumerate(chunk) if (one.block, one.item) == (last.block, last.item))


def _too_long(chunk: Sequence[Piece], most: int, share: float) -> bool:
    size = len(_joined(chunk))
    # A chunk ends at its even share, unless less than half of this piece is beyond it.
    return size > most or (size > share and size - share > len(chunk[-1].text) / 2)


def _opening(
    before: Sequence[Piece], piece: Piece, headers: dict[int, str], sizes: ChunkSizes
) -> list[Piece]:
    """Return the overlap with the previous chunk: its last sentences, a table's header row, or the lead of
    a list and the first line of the item that goes on."""
    header = headers[piece.block]
    if before[-1].block == piece.block and (header or piece.item):
        opening = [Piece(header, piece.block, "\n")] if header else []
        label = before[_item_start(before)]
        if _continues(before[-1], piece) and len(label.text) <= LEAD_SHARE * sizes.most:
            opening.append(label)
        return opening if len(_joined([*opening, piece])) <= sizes.most else opening[:1]
    repeated: list[Piece] = []
    for earlier in reversed(before):
        size = sum(len(p.text) + 1 for p in (earlier, *repeated))
        if not earlier.is_sentence or size > sizes.overlap or size + 1 + len(piece.text) > sizes.most:
            break
        repeated.insert(0, earlier)
    return repeated if len(repeated) < len(before) else []


def _header(section: Sequence[Block], number: int, most: int) -> str:
    """What each chunk of a long table or list begins with: its first row, or its lead; else ""."""
    block = section[number]
    if len(block.text) <= most:
        return ""
    if block.kind == "list":
        return _lead(section, number, most)
    first, newline, _ = block.text.partition("\n")
    return first if block.kind == "table" and newline and len(first) <= most // 4 else ""


def _joined(chunk: Sequence[Piece]) -> str:
    text = chunk[0].text
    for before, piece in pairwise(chunk):
        text += (piece.glue if before.block == piece.block else "\n\n") + piece.text
    return text
