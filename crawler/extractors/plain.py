"""Plain text files: paragraphs, lists and indented code."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from crawler.extractors import Extraction, Source
from crawler.extractors.charset import decode
from crawler.extractors.language import language_of_text
from crawler.extractors.metadata import primary_language
from crawler.extractors.text import fold
from crawler.page import Block, Page, content_hash

_ITEM = re.compile(r"(?:[-*+•]|\d+[.)])\s+\S")
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")


def extract(source: Source) -> Extraction:
    """Paragraphs are what blank lines separate; lines of lists and indented code stay lines."""
    text = decode(source.body, source.charset, markup=False).replace("\r\n", "\n").replace("\r", "\n")
    blocks = _blocks(text)
    title = _first_line(blocks) or _name_in(source.url)
    return Extraction(
        Page(
            url=source.url,
            title=title,
            language=primary_language(source.language) or language_of_text(" ".join(b.text for b in blocks)),
            blocks=blocks,
            content_hash=content_hash(title, blocks),
            etag=source.etag,
            last_modified=source.last_modified,
        )
    )


def _blocks(text: str) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for paragraph in _PARAGRAPH_BREAK.split(text):
        lines = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
        if any(any(map(str.isalnum, line)) for line in lines):
            blocks.append(_block(lines))
    return tuple(blocks)


def _block(lines: list[str]) -> Block:
    if all(line.startswith(("    ", "\t")) for line in lines if line):
        return Block("\n".join(lines), kind="code")
    if all(_ITEM.match(line.lstrip()) or line.startswith("  ") for line in lines if line):
        return Block("\n".join(line for line in lines if line), kind="list")
    return Block(fold(" ".join(lines)))


def _first_line(blocks: tuple[Block, ...]) -> str:
    """A short first line without a full stop reads like a title."""
    line = blocks[0].text if blocks else ""
    return line if len(line) <= 80 and not line.endswith((".", ":", ",")) and "\n" not in line else ""


def _name_in(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
