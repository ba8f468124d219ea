"""The text of a chunk in parts that a page can show: prose, lists, tables, code."""

from __future__ import annotations

import re
from typing import NamedTuple

_CODE = re.compile(r"(^```\n.*?\n```$)", re.S | re.M)
_ITEM = re.compile(r"^(?P<indent> *)(?P<marker>-|\d+\.) (?P<text>.*)$")


class Part(NamedTuple):
    """One paragraph, list, table or piece of code."""

    kind: str
    """text, list, table or code."""
    lines: list[list[str]]
    """Cells of each row of a table; one text a line otherwise, with its marker before it in a list."""


def chunk_blocks(text: str) -> list[Part]:
    """In order; line conventions as in `crawler.page`."""
    found = []
    for part in _CODE.split(text):
        if part.startswith("```\n"):
            found.append(Part("code", [[part[4:-4]]]))
        else:
            blocks = re.split(r"\n\s*\n", part)
            found += [_part(block.strip("\n").split("\n")) for block in blocks if block.strip()]
    return found


def _part(lines: list[str]) -> Part:
    items = [_ITEM.match(line) for line in lines]
    if all(items):
        return Part("list", [[item["indent"] + item["marker"], item["text"]] for item in items if item])
    if any("\t" in line for line in lines):
        return Part("table", [line.split("\t") for line in lines])
    return Part("text", [[line] for line in lines])
