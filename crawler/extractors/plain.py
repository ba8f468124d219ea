"""Plain text files: paragraphs, lists and indented code."""

import re

from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.language import language_of_text, primary_language
from crawler.extractors.text import decode, fold, name_in_address
from crawler.page import Block

_ITEM = re.compile(r"(?:[-*+•]|\d+[.)])\s+\S")
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")


def extract(source: SourceDocument) -> Extraction:
    """Read a text file. Blank lines separate paragraphs; lists and indented code keep their lines."""
    text = decode(source.body, source.charset, markup=False).replace("\r\n", "\n").replace("\r", "\n")
    blocks = _blocks(text)
    title = _first_line(blocks) or name_in_address(source.url)
    language = primary_language(source.language) or language_of_text(" ".join(b.text for b in blocks))
    return Extraction(source.page(title, language, blocks))


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
    """The first line if it reads like a title: short and without a full stop; else empty."""
    line = blocks[0].text if blocks else ""
    return line if len(line) <= 80 and not line.endswith((".", ":", ",")) and "\n" not in line else ""
