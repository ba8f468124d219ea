"""Definition lists: glossaries as lines, long entries as sections."""

from __future__ import annotations

from collections.abc import Callable

from lxml.etree import _Element

from crawler.extractors.text import fold, raw_text, text_length

_RICH = ("pre", "table", "dl", "ul", "ol", "figure", "blockquote", "h2", "h3", "h4", "h5", "h6", "details")
_LONG_ENTRY = 300
_LONG_TERM = 80


def is_compact(element: _Element) -> bool:
    """Whether its entries are short texts, as in a glossary, rather than sections of their own."""
    entries = list(element.iter("dd"))
    if not entries:
        return next(element.iter(*_RICH[:2]), None) is None
    for entry in entries:
        if next(entry.iter(*_RICH), None) is not None or len(entry.findall("p")) > 1:
            return False
    return sum(map(text_length, entries)) / len(entries) < _LONG_ENTRY


def definition_lines(element: _Element, dropped: Callable[[_Element], bool]) -> list[str]:
    """The term as an item of a list, its definitions below it."""
    lines = []
    for child in element.iter("dt", "dd"):
        if dropped(child):
            continue
        text = fold(raw_text(child, dropped))
        if text:
            lines.append(("- " if child.tag == "dt" else "  ") + text)
    return lines


def term_name(term: str) -> str:
    """What a term is called in a heading path: a long signature loses its parameters.

    json.dump(obj, fp, *, skipkeys=False, and many more) -> json.dump
    """
    if len(term) <= _LONG_TERM:
        return term
    name = term.partition("(")[0].strip()
    return name if 0 < len(name) <= _LONG_TERM else f"{term[:_LONG_TERM].rsplit(' ', 1)[0]}"
