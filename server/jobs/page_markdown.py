"""A page as Markdown that an operator can correct, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from crawler.extractors import Source
from crawler.extractors.markdown import extract
from crawler.page import Block, BlockKind, Page, content_hash
from server.domain.chunk import Chunk
from server.domain.page_text import joined_text

LONGEST_TEXT = 200_000
"""Characters of a page that an operator may write."""
_CODE = re.compile(r"(^```\n.*?\n```$)", re.S | re.M)
_ITEM = re.compile(r"^(?P<indent> *)(?:-|\d+\.) ")
_SIGNS = re.compile(r"([\\`*\[\]<]|~~|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_LINE_START = re.compile(r"^(#{1,6} |[-+>=] |---|===)")
_NUMBER_START = re.compile(r"^(\d+)([.)] )")
_DEEPEST = 6


def page_of_chunks(chunks: Sequence[Chunk]) -> Page:
    """A page as its chunks tell it. It has no content hash: it may differ from what was read in small ways,
    so the next crawl reads it anew."""
    blocks: list[Block] = []
    for (path, anchor, _), group in groupby(chunks, key=lambda c: (c.heading_path, c.anchor, c.language)):
        for kind, text in _blocks_of(joined_text(list(group))):
            blocks.append(Block(text, path, kind, anchor))
    first = chunks[0]
    return Page(first.url, first.title, first.language, tuple(blocks))


def markdown_of(page: Page) -> str:
    """The page without its title; `edited` reads it back."""
    parts: list[str] = []
    shown: tuple[str, ...] = ()
    for block in page.blocks:
        if block.heading_path != shown:
            parts += _headings(shown, block.heading_path)
            shown = block.heading_path
        parts.append(_markdown(block))
    return "\n\n".join(parts)


def edited(site_page: Page, title: str, text: str) -> Page:
    """The operator's version of a page, in place of the website's. Raises BadFile."""
    read = extract(Source(site_page.url, text.encode("utf-8", "replace"), "text/markdown", "utf-8"))
    anchors = {block.heading_path: block.anchor for block in reversed(site_page.blocks)}
    # Anchors of the website: those that the Markdown would have stand on no page.
    blocks = tuple(replace(block, anchor=anchors.get(block.heading_path, "")) for block in read.page.blocks)
    title = " ".join(title.split())
    return replace(
        site_page,
        title=title,
        language=site_page.language or read.page.language,
        blocks=blocks,
        content_hash=content_hash(title, blocks),
        # These may still say what was corrected.
        description="",
        questions=(),
    )


def says_the_same(one: Page, other: Page) -> bool:
    """Whether two versions of a page have one text under one title."""
    return one.title == other.title and _told(one) == _told(other)


def _told(page: Page) -> list[tuple[tuple[str, ...], str]]:
    return [(block.heading_path, " ".join(block.text.split())) for block in page.blocks]


def _blocks_of(text: str) -> Iterator[tuple[BlockKind, str]]:
    for part in _CODE.split(text):
        if part.startswith("```\n"):
            yield "code", part[4:-4]
            continue
        for block in re.split(r"\n\s*\n", part):
            lines = [line for line in block.split("\n") if line.strip()]
            if lines:
                yield _kind(lines), "\n".join(lines)


def _kind(lines: Sequence[str]) -> BlockKind:
    if all(_ITEM.match(line) for line in lines):
        return "list"
    return "table" if len(lines) > 1 or "\t" in lines[0] else "text"


def _headings(shown: tuple[str, ...], path: tuple[str, ...]) -> Iterator[str]:
    """Those that differ from the ones shown, from the first different one down."""
    same = 0
    while same < min(len(shown), len(path)) and shown[same] == path[same]:
        same += 1
    # A path that only gets shorter needs its last heading again, to end the deeper section.
    start = min(same, len(path) - 1)
    for level in range(max(start, 0), len(path)):
        yield f"{'#' * min(level + 1, _DEEPEST)} {_escaped(path[level])}"


def _markdown(block: Block) -> str:
    lines = block.text.split("\n")
    if block.kind == "code":
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", block.text)), default=0))
        return f"{fence}\n{block.text}\n{fence}"
    if block.kind == "table":
        return "\n".join(_table([line.split("\t") for line in lines]))
    if block.kind == "list":
        return "\n".join(_item(line) for line in lines)
    return _escaped(" ".join(lines))


def _item(line: str) -> str:
    found = _ITEM.match(line)
    if found is None:
        return _escaped(line)
    # Four spaces a level: nested below "1. " as well as below "- ".
    indent = " " * (2 * len(found["indent"]))
    return f"{indent}{found[0].lstrip()}{_escaped(line[found.end() :])}"


def _table(rows: list[list[str]]) -> Iterator[str]:
    width = max(map(len, rows))
    for number, row in enumerate(rows):
        cells = [_escaped(cell).replace("|", "\\|") for cell in row + [""] * (width - len(row))]
        yield f"| {' | '.join(cells)} |"
        if not number:
            yield "|" + " --- |" * width


def _escaped(text: str) -> str:
    text = _SIGNS.sub(r"\\\1", text)
    text = _NUMBER_START.sub(r"\1\\\2", text)
    return _LINE_START.sub(r"\\\1", text)
