"""What a paragraph of a DOCX file is: heading, title, list item or code, by its style and numbering.

Ids of styles are translated by word processors ("berschrift1", "Titre1"); the names that stand in
the file are not ("heading 1"), and the outline level says the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element

from crawler.extractors.docx_package import W, child, children, value

_HEADING = re.compile(r"(?:heading|überschrift|titre|titolo|título|rubrik|заголовок|标题|見出し)"
                      r"\s*([1-9])", re.IGNORECASE)  # fmt: skip
_CODE = re.compile(r"\bcode\b|source|preformatted|verbatim|listing|html pre", re.IGNORECASE)
_LISTED = re.compile(r"list (bullet|number)(?: ([2-5]))?", re.IGNORECASE)
_MOST_BASES = 20
_DEEPEST = 8
_LONGEST_NAME = 100
_BODY_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Role:
    """What a paragraph is."""

    heading: int = 0
    """Level from 1; 0 when it is none."""
    title: bool = False
    code: bool = False
    listed: str = ""
    """Number of its list; empty when it is no item."""
    depth: int = 0
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    """What counts of a style, or of a paragraph's own properties."""

    name: str
    base: str
    outline: str
    number: str
    depth: str


class Styles:
    """Styles and numberings of one file; each is looked at once, however often it is used."""

    def __init__(self, styles: _Element | None, numbering: _Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default = ""
        for style in children(styles, "style"):
            id = style.get(f"{W}styleId", "")
            self._styles[id] = _read(style, child(style, "pPr"))
            if style.get(f"{W}type") == "paragraph" and style.get(f"{W}default") in ("1", "true"):
                self._default = self._default or id
        abstract = {
            item.get(f"{W}abstractNumId", ""): _formats(item) for item in children(numbering, "abstractNum")
        }
        self._formats = {
            number.get(f"{W}numId", ""): abstract.get(value(number, "abstractNumId"), {})
            for number in children(numbering, "num")
        }

    def role(self, paragraph: _Element) -> Role:
        properties = child(paragraph, "pPr")
        own = _read(None, properties)
        chain = [own, *self._chain(value(properties, "pStyle") or self._default)]
        names = [style.name for style in chain]
        level = _heading_level(chain, names)
        if level:
            return Role(heading=level)
        if any(name.lower() == "title" for name in names):
            return Role(title=True)
        listed, depth = _numbering(chain)
        by_name = next((match for name in names if (match := _LISTED.fullmatch(name))), None)
        named_depth = int(by_name[2] or 1) - 1 if by_name else 0
        if listed:
            numbered = self._formats.get(listed, {}).get(depth, "") not in ("bullet", "none", "")
            return Role(listed=listed, depth=max(depth, named_depth), numbered=numbered)
        if by_name:
            kind = by_name[1].lower()
            return Role(listed=kind, depth=named_depth, numbered=kind == "number")
        return Role(code=any(_CODE.search(name) for name in names))

    def _chain(self, style_id: str) -> list[_Style]:
        """A style and those that it is based on."""
        found: list[_Style] = []
        while (style := self._styles.get(style_id)) is not None and len(found) < _MOST_BASES:
            found.append(style)
            style_id = style.base
        return found


def _read(style: _Element | None, properties: _Element | None) -> _Style:
    return _Style(
        name=value(style, "name")[:_LONGEST_NAME],
        base=value(style, "basedOn"),
        outline=value(properties, "outlineLvl"),
        number=value(properties, "numPr", "numId"),
        depth=value(properties, "numPr", "ilvl"),
    )


def _formats(abstract: _Element) -> dict[int, str]:
    levels = islice(children(abstract, "lvl"), _DEEPEST + 1)
    return {_small(level.get(f"{W}ilvl", "")) or 0: value(level, "numFmt") for level in levels}


def _heading_level(chain: list[_Style], names: list[str]) -> int:
    level = next((found for style in chain if (found := _small(style.outline)) is not None), None)
    if level is not None:
        return level + 1 if level < _BODY_LEVEL else 0
    match = next((match for name in names if (match := _HEADING.match(name))), None)
    return int(match[1]) if match else 0


def _numbering(chain: list[_Style]) -> tuple[str, int]:
    """(number of the list, depth); ("", 0) for what is no item."""
    style = next((style for style in chain if style.number), None)
    if style is None or style.number == "0":
        return "", 0
    return style.number, min(_small(style.depth) or 0, _DEEPEST)


def _small(text: str) -> int | None:
    return int(text) if len(text) <= 3 and text.isascii() and text.isdecimal() else None
