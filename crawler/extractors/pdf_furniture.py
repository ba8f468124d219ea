"""Running headers, footers and page numbers: lines at the edge of a page that its neighbours have too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from crawler.extractors.pdf_lines import Line

_EDGE = 2
"""Lines at each edge of a page that may be furniture."""
_SHARE = 0.4
"""Of the pages: left and right pages often differ."""
_RUN = 3
"""Pages near each other that share a line, such as a chapter's title."""
_NEAR = 4
_LONGEST = 120
_SENTENCE_ENDS = (".", "!", "?", ":", "。")
_LARGER = 1.12
_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|página|pagina|sida|strana)?\W*(?:\d{1,4}|[ivxlc]{1,7})"
                          r"(?:\s*(?:/|of|von|de|di|av)\s*\d{1,4})?\W*", re.IGNORECASE)  # fmt: skip
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")


def without_furniture(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The lines of each page that are not repeated on other pages' edges."""
    if len(pages) < 2:
        return list(pages)
    edges = [_edge_lines(lines) for lines in pages]
    keys = [{_key(line) for line in edge} for edge in edges]
    counts = Counter(key for found in keys for key in found)
    numbered = sum(any(map(_is_page_number, edge)) for edge in edges)
    offset = _number_offset(edges)
    sizes = Counter(line.size for lines in pages for line in lines)
    largest = _LARGER * sizes.most_common(1)[0][0] if sizes else 0.0
    kept = []
    for number, (lines, edge) in enumerate(zip(pages, edges, strict=True)):
        gone = {
            id(line)
            for line in edge
            if _is_running(_key(line), number, keys, counts)
            or (numbered >= min(len(pages), _RUN) and _is_page_number(line))
            or (offset is not None and line.size <= largest and number + offset in _numbers_at_ends(line))
        }
        kept.append([line for line in lines if id(line) not in gone])
    return kept


def _edge_lines(lines: list[Line]) -> list[Line]:
    """The highest and the lowest; their order in the file tells nothing."""
    if len(lines) <= 2 * _EDGE:
        ranked = sorted(lines, key=lambda line: -line.y)
        return ranked[:1] + ranked[1:][-1:]
    heights = sorted({round(line.y) for line in lines})
    if len(heights) <= 2 * _EDGE:
        return [line for line in lines if round(line.y) in (heights[0], heights[-1])]
    low, high = heights[_EDGE - 1], heights[-_EDGE]
    return [line for line in lines if round(line.y) <= low or round(line.y) >= high]


def _is_page_number(line: Line) -> bool:
    return len(line.text) <= 40 and _PAGE_NUMBER.fullmatch(line.text) is not None


def _number_offset(edges: Sequence[Sequence[Line]]) -> int | None:
    """What a page's printed number is ahead of its place; None when the pages are not numbered so."""
    found = Counter(
        offset
        for number, edge in enumerate(edges)
        for offset in {printed - number for line in edge for printed in _numbers_at_ends(line)}
    )
    offset, count = found.most_common(1)[0] if found else (0, 0)
    return offset if count >= max(_RUN + 1, len(edges) * _SHARE) else None


def _numbers_at_ends(line: Line) -> set[int]:
    words = line.text.split()
    return {int(word) for word in (words[0], words[-1]) if word.isdecimal() and len(word) < 6}


def _key(line: Line) -> str:
    """Equal for lines that differ in their numbers; sentences ("Page 3 says …") must not differ at all."""
    text = " ".join(line.text[: 2 * _LONGEST].split()).lower()
    return text if text.endswith(_SENTENCE_ENDS) else _DIGITS.sub("#", text)


def _is_running(key: str, number: int, keys: Sequence[set[str]], counts: Counter[str]) -> bool:
    pages = len(keys)
    if len(key) > _LONGEST:
        return False
    if pages < 4:
        return counts[key] == pages and not key.endswith(_SENTENCE_ENDS)
    if counts[key] >= max(_RUN, pages * _SHARE):
        return True
    near = keys[max(0, number - _NEAR) : number + _NEAR + 1]
    return sum(key in found for found in near) > _RUN
