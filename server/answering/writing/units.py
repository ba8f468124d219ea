"""Splits a chunk into units that can be quoted: sentences, list items, table rows, code blocks."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from server.domain.sentences import PICTURE, split_sentences, text_blocks

_ITEM = re.compile(r"^(?P<indent> *)(?P<marker>-|\d+\.) (?P<text>.*)$")


class UnitKind(StrEnum):
    """Layout of a unit on its page."""

    SENTENCE = "sentence"
    ITEM = "item"
    STEP = "step"
    ROW = "row"
    CODE = "code"
    PICTURE = "picture"
    """The text of a picture, which readers of the page do not see."""


LISTED = (UnitKind.ITEM, UnitKind.STEP)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a page's verbatim text."""

    text: str
    """Verbatim text without a list marker. Cells of a row are separated by tabs; code keeps its lines."""
    kind: UnitKind
    block: int
    """Number of the paragraph, list, table or code block in its chunk."""
    marker: str = ""
    """The list marker with indentation, such as "- " or "1. ", for items and steps, or that of a picture. For
    a sentence that begins a line within an item, such as a definition under its term, the indentation."""
    quote: str = field(init=False, compare=False)
    """The text with white space folded to single spaces."""

    def __post_init__(self) -> None:
        folded = " ".join(self.text.split())
        # Most texts are folded already, and are kept in memory once.
        object.__setattr__(self, "quote", self.text if folded == self.text else folded)


@lru_cache(maxsize=4_000)
def units(text: str) -> tuple[Unit, ...]:
    """Return the units of a chunk's text in order. The line conventions are those of `crawler.page`.

    Cached, because many questions use the same chunks.
    """
    found: list[Unit] = []
    for number, (is_code, block) in enumerate(text_blocks(text)):
        if is_code:
            found.append(Unit(block.strip("\n"), UnitKind.CODE, number))
            continue
        for line in block.split("\n"):
            found.extend(_line_units(line, number))
    return tuple(unit for unit in found if unit.quote)


def _line_units(line: str, block: int) -> list[Unit]:
    if line.startswith(PICTURE):
        return [Unit(line.removeprefix(PICTURE), UnitKind.PICTURE, block, PICTURE)]
    item = _ITEM.match(line)
    if item:
        kind = UnitKind.ITEM if item["marker"] == "-" else UnitKind.STEP
        return [Unit(item["text"], kind, block, f"{item['indent']}{item['marker']} ")]
    if "\t" in line:
        return [Unit(line.strip(), UnitKind.ROW, block)]
    indented = line[: len(line) - len(line.lstrip(" "))]
    return [
        Unit(sentence, UnitKind.SENTENCE, block, "" if number else indented)
        for number, sentence in enumerate(split_sentences(line))
    ]
