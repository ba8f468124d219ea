"""Lines of a PDF joined to paragraphs, lists and code, in the line conventions of crawler.page."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from crawler.extractors.pdf.lines import Line
from crawler.extractors.text import fold
from crawler.page import BlockKind

_BULLET = re.compile(r"\s*[•▪●○◦‣∙·■□➢✓\uf0b7\uf0a7]\s*|\s*[–—*-]\s+(?=\S)")
_NUMBERED = re.compile(r"\s*(\d{1,3})[.)]\s+(?=\S)")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？：][\"'”’»)\]]*$")
_CUT_WORD = re.compile(r"(\w+)[-\u2010\u00ad]$")
_WIDE_SCRIPT = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_INDENT = 6.0
_TAIL = 80
"""Characters at the end of a text that are examined to see how it ends."""


@dataclass(slots=True)
class Paragraph:
    """Lines that become one block."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list)
    markers: list[tuple[str, float]] = field(default_factory=list)
    """Marker and place of each item of a list."""
    items: list[list[str]] = field(default_factory=list)


class Joiner:
    """Joins lines. The words of the whole file show whether a hyphen belongs to a word or to a line break."""

    def __init__(self, pages: Iterable[Sequence[Line]]) -> None:
        self._words: Counter[str] = Counter()
        self._widest = 0
        for lines in pages:
            for line in lines:
                self._words.update(word.lower() for word in re.findall(r"\w+(?:-\w+)*", line.text))
                self._widest = max(self._widest, len(line.text)) if not line.code else self._widest

    def paragraphs(self, lines: Sequence[Line]) -> list[Paragraph]:
        """Paragraphs of a stretch of one page without headings."""
        leading = _leading(lines)
        found: list[Paragraph] = []
        for before, line in zip([None, *lines], lines, strict=False):
            marker = _marker(line)
            if marker is not None and not line.code:
                if not found or found[-1].kind != "list" or _is_far(before, line, leading * 2):
                    found.append(Paragraph("list"))
                found[-1].markers.append((marker[0], line.x))
                found[-1].items.append([line.text[marker[1] :].strip()])
            elif line.code:
                if not found or found[-1].kind != "code":
                    found.append(Paragraph("code"))
                found[-1].items.append([line.text])
            elif found and before is not None and self._goes_on(found[-1], before, line, leading):
                found[-1].items[-1].append(line.text.strip())
            else:
                found.append(Paragraph("text", items=[[line.text.strip()]]))
        return found

    def text(self, paragraph: Paragraph) -> str:
        """Text of a paragraph, in the line conventions."""
        if paragraph.kind == "code":
            return "\n".join(line for item in paragraph.items for line in item)
        joined = [self.joined(item) for item in paragraph.items]
        if paragraph.kind == "text":
            return "\n".join(joined)
        levels = _levels([x for _, x in paragraph.markers])
        rows = zip(levels, paragraph.markers, joined, strict=True)
        return "\n".join(f"{'  ' * level}{marker} {text}" for level, (marker, _), text in rows if text)

    def joined(self, lines: Sequence[str]) -> str:
        """Join lines to one paragraph, and words that a line break cut."""
        parts: list[str] = []
        for line in map(str.strip, lines):
            # Only the end of the text so far matters: a paragraph may have a million lines.
            parts.append(self._next(parts, line) if parts else line)
        return fold("".join(parts))

    def _next(self, parts: list[str], line: str) -> str:
        """Text that `line` adds to the parts; may remove a hyphen at their end."""
        text = parts[-1][-_TAIL:]
        cut = _CUT_WORD.search(text)
        if cut and line[:1].isalpha() and not text.endswith(("--", "–")):
            rest = re.match(r"\w+", line)
            whole = cut[1] + (rest[0] if rest else "")
            hyphenated = f"{cut[1]}-{rest[0] if rest else ''}".lower()
            is_cut = self._words[whole.lower()] >= self._words[hyphenated]
            if text[-1] == "\u00ad" or (is_cut and line[0].islower()):
                parts[-1] = parts[-1][:-1]
            return line
        if text and line and _WIDE_SCRIPT.match(text[-1]) and _WIDE_SCRIPT.match(line[0]):
            return line
        return f" {line}"

    def _goes_on(self, current: Paragraph, before: Line, line: Line, leading: float) -> bool:
        """Return whether `line` continues the paragraph or item that `before` ended."""
        if current.kind == "code" or abs(before.size - line.size) > 0.15 * before.size:
            return False
        ended = bool(_ENDS_SENTENCE.search(before.text.strip()[-_TAIL:]))
        if _is_far(before, line, leading):
            return False
        if current.kind == "list":
            return line.x > current.markers[-1][1] + 1 or not ended
        if ended and line.x > before.x + _INDENT and line.y < before.y:
            return False
        return not (ended and len(before.text) < 0.75 * self._widest)


def ends_open(text: str) -> bool:
    """Return whether a paragraph seems to continue on the next page."""
    return not _ENDS_SENTENCE.search(text[-_TAIL:])


def _marker(line: Line) -> tuple[str, int] | None:
    """Marker in the line conventions, and the place where the item's text begins."""
    bullet = _BULLET.match(line.text)
    if bullet and bullet[0].strip():
        return "-", bullet.end()
    numbered = _NUMBERED.match(line.text)
    return (f"{numbered[1]}.", numbered.end()) if numbered else None


def _leading(lines: Sequence[Line]) -> float:
    """Usual distance of two lines, with a tolerance."""
    steps = [a.y - b.y for a, b in pairwise(lines) if 0 < a.y - b.y < 4 * a.size]
    return 1.35 * median(steps) if steps else 0.0


def _is_far(before: Line | None, line: Line, leading: float) -> bool:
    return before is not None and leading > 0 and before.y - line.y > max(leading, 1.2 * line.size)


def _levels(places: Sequence[float]) -> list[int]:
    """Depth of each item of a list, by its indentation."""
    steps: list[float] = []
    for place in sorted(set(places)):
        if not steps or place - steps[-1] > _INDENT:
            steps.append(place)
    return [max((n for n, step in enumerate(steps) if place >= step), default=0) for place in places]
