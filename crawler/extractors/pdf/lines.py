"""The lines of PDF pages: text with place, size and face, without running headers and page numbers."""

import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pypdf import PageObject
from pypdf.generic import ArrayObject, FloatObject

from crawler.errors import BadFile

_BOLD = ("bold", "black", "heavy", "semibold", "demi", "cmbx", "sfbx")
_TYPEWRITER = ("mono", "courier", "cmtt", "sftt", "consol", "typewriter", "menlo", "inconsolata")
_WORD_GAP = 160
"""Thousandths of the font's size: kerning moves letters by less, the gaps between words are wider."""
_WIDE = 1000
_LETTER = 0.5
"""Usual width of a letter, in heights of the font."""
_WIDE_LETTERS = re.compile("[mwMW@%—]")
_WIDER = 0.3
_TYPED = 0.6
"""Width of a letter of a typewriter face."""
_CELL_GAP = 0.8
"""Gap from which on two pieces are two cells, in heights of the font."""


@dataclass(slots=True)
class Line:
    """One line of a page."""

    text: str
    size: float
    """Size of most of its letters, in points."""
    bold: bool = False
    code: bool = False
    """Set in a typewriter face."""
    x: float = 0.0
    y: float = 0.0
    """Distance from the page's lower edge."""
    cells: tuple[tuple[float, str], ...] = ()
    """(place, text) of the pieces that wide gaps keep apart, as the cells of a table are."""


@dataclass(slots=True)
class _Growing:
    parts: list[str] = field(default_factory=list)
    cells: list[tuple[float, str]] = field(default_factory=list)
    end: float = 0.0
    """Where the last piece ends, about."""
    sizes: Counter[float] = field(default_factory=Counter)
    bold: int = 0
    code: int = 0
    letters: int = 0
    place: tuple[float, float] | None = None


class Deadline:
    """Time limit for reading one file."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = time.monotonic() + seconds

    def check(self) -> None:
        """Raise BadFile if the time is over."""
        if time.monotonic() > self._due:
            raise BadFile(f"it takes longer than {self._seconds:g} s to read")


def page_lines(page: PageObject, deadline: Deadline) -> list[Line]:
    """Lines with text, in the order of the page's content. Raises BadFile, and whatever pypdf raises."""
    gathered = _Gatherer(deadline)
    page.extract_text(visitor_operand_before=gathered.before, visitor_text=gathered.text)
    deadline.check()  # pypdf goes on after errors inside forms
    return gathered.lines()


class _Gatherer:
    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._lines: list[Line] = []
        self._line = _Growing()

    def before(self, operator: bytes, operands: Any, *_: Any) -> None:
        """Check the time and widen gaps between words; called for every operation.

        pypdf sees a gap only when it is about half as wide as it believes the font's space to be, and
        believes much too much of fonts in which no space was used. The gap is widened and taken back.
        """
        self._deadline.check()
        if operator != b"TJ" or not operands or not isinstance(operands[0], ArrayObject):
            return
        shown = operands[0]
        for place in range(len(shown) - 1, -1, -1):
            gap = shown[place]
            if isinstance(gap, int | float) and -_WIDE < gap <= -_WORD_GAP:
                shown[place : place + 1] = [FloatObject(-_WIDE), FloatObject(_WIDE + float(gap))]

    def text(self, text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        """Collect a piece of text, which may hold the ends of lines; called for every piece."""
        for number, part in enumerate(text.split("\n")):
            if number:
                self._end()
            if part:
                self._add(part, cm, tm, font, size)

    def lines(self) -> list[Line]:
        self._end()
        return _with_numbers(_with_bullets(self._lines))

    def _add(self, part: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        x, y = _place(tm, cm)
        begun = self._line.place
        if begun is not None and _is_number(part) and x < begun[0]:
            self._end()  # the number of a step, drawn after its text
        line = self._line
        goes_on = bool(line.parts) and not (line.parts[-1][-1:].isspace() or part[:1].isspace())
        line.parts.append(part)
        letters = len(part.strip())
        if not letters:
            if line.cells:
                line.cells[-1] = (line.cells[-1][0], line.cells[-1][1] + part)
            return
        if line.place is None:
            line.place = x, y
        face = str(font.get("/BaseFont", "")).lower() if font is not None else ""
        height = abs(size) * _scale(tm, cm)
        if not line.cells or (x - line.end > _CELL_GAP * height and not goes_on):
            line.cells.append((x, part))
        else:
            line.cells[-1] = (line.cells[-1][0], line.cells[-1][1] + part)
        line.end = max(line.end, x + height * _width(part.rstrip(), face))
        line.sizes[round(height, 1)] += letters
        line.bold += letters * any(word in face for word in _BOLD)
        line.code += letters * any(word in face for word in _TYPEWRITER)
        line.letters += letters

    def _end(self) -> None:
        line, self._line = self._line, _Growing()
        text = _printed_once("".join(line.parts).rstrip())
        if not line.letters or not text.strip():
            return
        x, y = line.place or (0.0, 0.0)
        self._lines.append(
            Line(
                text=text,
                size=line.sizes.most_common(1)[0][0],
                bold=line.bold * 2 > line.letters,
                code=line.code * 10 > line.letters * 9,
                x=x,
                y=y,
                cells=tuple((place, _printed_once(text.strip())) for place, text in line.cells),
            )
        )


MARKER = re.compile(r"[•▪●○◦‣∙·■□➢✓\uf0b7\uf0a7]|\d{1,3}[.)]")
"""Bullet or number of an item."""
_LOOK_BACK = 4
_LEAST_STEPS = 2
_NUMBER_GAP = 4
"""Most of the distance between a step and its number, in heights of the font."""


def _is_number(text: str) -> bool:
    return text.strip().isdecimal() and len(text.strip()) <= 2


def _with_bullets(lines: list[Line]) -> list[Line]:
    """Return the lines with bullets that are lines of their own at the beginning of what is next to them."""
    found: list[Line] = []
    for line in lines:
        before = found[-1] if found else None
        if before is not None and MARKER.fullmatch(before.text.strip()) and _is_left_of(before, line):
            line.text, line.x = f"{before.text.strip()} {line.text.lstrip()}", before.x
            found.pop()
        found.append(line)
    return found


def _with_numbers(lines: list[Line]) -> list[Line]:
    """Return the lines with the numbers 1, 2, ... of steps that are drawn to the left of them, and later."""
    steps: dict[int, Line] = {}
    for place, line in enumerate(lines):
        if _is_number(line.text):
            before = reversed(lines[max(0, place - _LOOK_BACK) : place])
            step = next((one for one in before if _is_left_of(line, one)), None)
            if step is not None:
                steps[place] = step
    numbers = [int(lines[place].text) for place in steps]
    starts = [1 if one == 1 else before + 1 for before, one in zip([0, *numbers], numbers, strict=False)]
    if len(numbers) < _LEAST_STEPS or numbers != starts:
        return lines
    for place, step in steps.items():
        step.text, step.x = f"{int(lines[place].text)}. {step.text}", lines[place].x
    return [line for place, line in enumerate(lines) if place not in steps]


def _is_left_of(number: Line, step: Line) -> bool:
    return abs(number.y - step.y) < 0.6 * step.size and 0 < step.x - number.x < _NUMBER_GAP * step.size


def _width(text: str, face: str) -> float:
    """Return about how wide a text is, in heights of the font."""
    if any(word in face for word in _TYPEWRITER):
        return _TYPED * len(text)
    return _LETTER * len(text) + _WIDER * len(_WIDE_LETTERS.findall(text))


_OVERPRINTED = re.compile(r"\S{6,}")


def _printed_once(text: str) -> str:
    """Return the text without the copies of letters that are printed two or three times to look bold."""
    for times in (3, 2):
        if any(_repeats(word, times) for word in _OVERPRINTED.findall(text)):
            words = text.split(" ")
            return " ".join(word[::times] if _repeats(word, times) else word for word in words)
    return text


def _repeats(word: str, times: int) -> bool:
    """Return whether each character is there so often; numbers such as 1100 may be what they are."""
    whole = len(word) % times == 0 and all(word[at::times] == word[::times] for at in range(1, times))
    return whole and len(set(word)) > 1 and not word.isdecimal()


def _place(tm: list[float], cm: list[float]) -> tuple[float, float]:
    return (
        tm[4] * cm[0] + tm[5] * cm[2] + cm[4],
        tm[4] * cm[1] + tm[5] * cm[3] + cm[5],
    )


def _scale(tm: list[float], cm: list[float]) -> float:
    """Factor by which the page enlarges the height of a font."""
    x = tm[2] * cm[0] + tm[3] * cm[2]
    y = tm[2] * cm[1] + tm[3] * cm[3]
    return math.hypot(x, y)


_EDGE = 2
"""Lines at each edge of a page that may be headers or footers."""
_SHARE = 0.4
"""Share of the pages that repeat a running line: left and right pages often differ."""
_RUN = 3
"""Pages near each other that share a line, such as a chapter's title."""
_NEAR = 4
_LONGEST = 120
_SENTENCE_ENDS = (".", "!", "?", ":", "。")
_LARGER = 1.12
_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|página|pagina|sida|strana)?\W*(?:\d{1,4}|[ivxlc]{1,7})"
                          r"(?:\s*(?:/|of|von|de|di|av)\s*\d{1,4})?\W*", re.IGNORECASE)  # fmt: skip
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")


def without_running_lines(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The lines of each page without running headers, footers and page numbers."""
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
    """The highest and the lowest lines of a page; their order in the file does not matter."""
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
    """Difference between printed page numbers and places in the file; None without regular page numbers."""
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
    """Key that is equal for lines that differ only in numbers, or for equal sentences."""
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
