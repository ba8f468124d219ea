"""Chunks cut into the small texts that are searched, and grouped into the sections that are returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from server.domain.chunk import Chunk
from server.domain.sentences import lines, split_sentences

FENCE = "```"
LONGEST_SENTENCE = 600
"""Characters of a sentence that are embedded; what has more, such as a table's row, is cut into several."""
SHORTEST_SENTENCE = 20
"""Shorter ones say too little to be searched alone: they go with the one after them."""


def children(text: str, size: int) -> list[str]:
    """The text in parts of about equal size, at most `size` characters, cut at sentences and lines."""
    pieces = list(_pieces(text, size))
    total = sum(len(piece) + 1 for piece in pieces)
    share = total / max(1, -(-total // size))
    parts: list[str] = []
    for piece in pieces:
        longer = f"{parts[-1]}\n{piece}" if parts else piece
        # A part ends near the even share, so that no short rest is left.
        if parts and len(longer) <= size and len(longer) - share <= len(piece) / 2:
            parts[-1] = longer
        else:
            parts.append(piece)
    return parts


def sentences(text: str) -> list[str]:
    """Those of a chunk in order; a short one goes with the next; a line of code or of a table is one."""
    found: list[str] = []
    held = ""
    for piece in _pieces(text, LONGEST_SENTENCE):
        held = f"{held} {piece}" if held else piece
        if len(held) >= SHORTEST_SENTENCE:
            found.append(held)
            held = ""
    if held:
        found[-1:] = [f"{found[-1]} {held}"] if found else [held]
    return found


def sections(page: Sequence[Chunk], size: int) -> list[list[Chunk]]:
    """The chunks of a page in runs of about `size` characters at most, each under one first heading where
    that has enough of them."""
    runs: list[list[Chunk]] = []
    for chunk in page:
        run = runs[-1] if runs else []
        length = sum(len(one.text) for one in run) + len(chunk.text)
        if run and length <= size and (_top(chunk) == _top(run[-1]) or length <= size // 2):
            run.append(chunk)
        else:
            runs.append([chunk])
    return runs


def _top(chunk: Chunk) -> str:
    return next((heading for heading in chunk.heading_path if heading != chunk.title), "")


def _pieces(text: str, size: int) -> Iterator[str]:
    """Sentences, list items, rows and lines of code; none longer than `size`."""
    code = False
    for marker, content in lines(text):
        if content.strip().startswith(FENCE):
            code = not code
            continue
        whole = code or "\t" in content
        found = [content] if whole else split_sentences(content)
        for number, sentence in enumerate(found):
            said = f"{marker.lstrip()}{sentence}" if not number else sentence
            for start in range(0, len(said), size):
                piece = said[start : start + size].strip()
                if piece:
                    yield piece
