"""Lists as lines: "- " or "1. " before an item, two spaces a level."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml.etree import _Element

from crawler.extractors.text import BLOCK_TAGS, fold, plain_text, raw_text

_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_RICH = (
    "pre",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "dl",
    "figure",
    "details",
    "blockquote",
    "listing",
)
_DEEPEST = 20


def is_plain_list(element: _Element) -> bool:
    """Whether the items hold nothing but text and further lists."""
    return next(element.iter(*_RICH), None) is None


def marker_of(parent: _Element, item: _Element, position: int) -> str:
    """ "- ", or the number the reader sees."""
    if parent.tag != "ol":
        return "- "
    first = _number(parent.get("start"), 1)
    return f"{_number(item.get('value'), first + position)}. "


def list_lines(element: _Element, dropped: Callable[[_Element], bool], level: int = 0) -> list[str]:
    """One line an item, further paragraphs of an item below it, nested items indented."""
    lines: list[str] = []
    indent = "  " * level
    position = 0
    for item in element:
        if not isinstance(item.tag, str) or dropped(item):
            continue
        if item.tag in _LISTS and level < _DEEPEST:  # a list in a list without an item around it
            lines += list_lines(item, dropped, level + 1)
            continue
        marker = marker_of(element, item, position)
        position += 1
        for part in _parts(item, dropped):
            if not isinstance(part, str) and level >= _DEEPEST:
                part = fold(plain_text(part))
            if isinstance(part, str):
                lines.append(f"{indent}{marker}{part}")
                marker = "  "
            else:
                lines += list_lines(part, dropped, level + 1)
    return lines


def _parts(item: _Element, dropped: Callable[[_Element], bool], depth: int = 0) -> Iterator[str | _Element]:
    """Paragraphs of an item as text, nested lists as elements, in reading order."""
    inline = [item.text or ""]
    for child in item:
        tag = child.tag
        if isinstance(tag, str) and not dropped(child):
            if tag in BLOCK_TAGS and depth < _DEEPEST:
                yield from _paragraph(inline)
                if tag in _LISTS:
                    yield child
                else:
                    yield from _parts(child, dropped, depth + 1)
            elif depth < _DEEPEST and next(child.iter(*BLOCK_TAGS), None) is not None:
                yield from _paragraph(inline)
                yield from _parts(child, dropped, depth + 1)
            else:
                inline.append(" " if tag == "br" else raw_text(child, dropped))
        inline.append(child.tail or "")
    yield from _paragraph(inline)


def _paragraph(inline: list[str]) -> Iterator[str]:
    text = fold("".join(inline))
    inline.clear()
    if text and any(map(str.isalnum, text)):
        yield text


def _number(value: str | None, default: int) -> int:
    try:
        return int(value) if value else default
    except ValueError:
        return default
