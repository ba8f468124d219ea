"""What a paragraph of a DOCX file is: heading, title, list item or code, by its style and numbering.

Ids of styles are translated by word processors ("berschrift1", "Titre1"); the names that stand in
the file are not ("heading 1"), and the outline level says the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.etree import _Element

from crawler.extractors.docx_package import W, child, children, value

_HEADING = re.compile(r"(?:heading|überschrift|titre|titolo|título|rubrik|заголовок|标题|見出し)"
                      r"\s*([1-9])", re.IGNORECASE)  # fmt: skip
_CODE = re.compile(r"\bcode\b|source|preformatted|verbatim|listing|html pre", re.IGNORECASE)
_LISTED = re.compile(r"list (bullet|number)(?: ([2-5]))?", re.IGNORECASE)
_MOST_BASES = 20
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


class Styles:
    """Styles and numberings of one file."""

    def __init__(self, styles: _Element | None, numbering: _Element | None) -> None:
        self._styles = {style.get(f"{W}styleId", ""): style for style in children(styles, "style")}
        self._default = next(
            (
                id
                for id, style in self._styles.items()
                if style.get(f"{W}type") == "paragraph" and style.get(f"{W}default") in ("1", "true")
            ),
            "",
        )
        abstract = {item.get(f"{W}abstractNumId", ""): item for item in children(numbering, "abstractNum")}
        self._numbers = {
            number.get(f"{W}numId", ""): abstract.get(value(number, "abstractNumId"))
            for number in children(numbering, "num")
        }

    def role(self, paragraph: _Element) -> Role:
        properties = child(paragraph, "pPr")
        chain = self._chain(value(properties, "pStyle") or self._default)
        names = [value(style, "name") for style in chain]
        level = self._heading_level(properties, chain, names)
        if level:
            return Role(heading=level)
        if any(name.lower() == "title" for name in names):
            return Role(title=True)
        listed, depth = self._numbering(properties, chain)
        by_name = next((match for name in names if (match := _LISTED.fullmatch(name))), None)
        named_depth = int(by_name[2] or 1) - 1 if by_name else 0
        if listed:
            numbered = self._is_numbered(listed, depth)
            return Role(listed=listed, depth=max(depth, named_depth), numbered=numbered)
        if by_name:
            kind = by_name[1].lower()
            return Role(listed=kind, depth=named_depth, numbered=kind == "number")
        return Role(code=any(_CODE.search(name) for name in names))

    def _chain(self, style_id: str) -> list[_Element]:
        """A style and those that it is based on."""
        found: list[_Element] = []
        while style_id and len(found) < _MOST_BASES:
            style = self._styles.get(style_id)
            if style is None or style in found:
                break
            found.append(style)
            style_id = value(style, "basedOn")
        return found

    def _heading_level(self, properties: _Element | None, chain: list[_Element], names: list[str]) -> int:
        told = [value(properties, "outlineLvl"), *(value(style, "pPr", "outlineLvl") for style in chain)]
        level = next((text for text in told if text.isdecimal()), "")
        if level:
            return int(level) + 1 if int(level) < _BODY_LEVEL else 0
        match = next((match for name in names if (match := _HEADING.match(name))), None)
        return int(match[1]) if match else 0

    def _numbering(self, properties: _Element | None, chain: list[_Element]) -> tuple[str, int]:
        for place in (properties, *(child(style, "pPr") for style in chain)):
            number = value(place, "numPr", "numId")
            if number:
                depth = value(place, "numPr", "ilvl")
                return ("", 0) if number == "0" else (number, int(depth) if depth.isdecimal() else 0)
        return "", 0

    def _is_numbered(self, number: str, depth: int) -> bool:
        for level in children(self._numbers.get(number), "lvl"):
            if level.get(f"{W}ilvl") == str(depth):
                return value(level, "numFmt") not in ("bullet", "none", "")
        return False
