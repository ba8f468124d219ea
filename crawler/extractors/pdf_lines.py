"""The lines of a PDF's page: text with place, size and face."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pypdf import PageObject
from pypdf.generic import ArrayObject, FloatObject

from crawler.errors import BadFile

_BOLD = ("bold", "black", "heavy", "semibold", "demi", "cmbx", "sfbx")
_TYPEWRITER = ("mono", "courier", "cmtt", "sftt", "consol", "typewriter", "menlo", "inconsolata")
_WORD_GAP = 160
"""Thousandths of the font's size: kerning moves letters by less, words stand further apart."""
_WIDE = 1000


@dataclass(slots=True)
class Line:
    """One line as it stands on the page."""

    text: str
    size: float
    """Of most of its letters, in points."""
    bold: bool = False
    code: bool = False
    """Set in a typewriter face."""
    x: float = 0.0
    y: float = 0.0
    """Distance from the page's lower edge."""


@dataclass(slots=True)
class _Growing:
    parts: list[str] = field(default_factory=list)
    sizes: Counter[float] = field(default_factory=Counter)
    bold: int = 0
    code: int = 0
    letters: int = 0
    place: tuple[float, float] | None = None


class Deadline:
    """Ends the reading of one file when its time is used up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = time.monotonic() + seconds

    def check(self) -> None:
        """Raises BadFile when it is over."""
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
        """Called for every operation: looks at the clock, and widens gaps between words.

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
        """Called with pieces of lines; a line's end may stand anywhere in a piece."""
        for number, part in enumerate(text.split("\n")):
            if number:
                self._end()
            if part:
                self._add(part, cm, tm, font, size)

    def lines(self) -> list[Line]:
        self._end()
        return self._lines

    def _add(self, part: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        line = self._line
        line.parts.append(part)
        letters = len(part.strip())
        if not letters:
            return
        if line.place is None:
            line.place = _place(tm, cm)
        face = str(font.get("/BaseFont", "")).lower() if font is not None else ""
        line.sizes[round(abs(size) * _scale(tm, cm), 1)] += letters
        line.bold += letters * any(word in face for word in _BOLD)
        line.code += letters * any(word in face for word in _TYPEWRITER)
        line.letters += letters

    def _end(self) -> None:
        line, self._line = self._line, _Growing()
        text = "".join(line.parts).rstrip()
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
            )
        )


def _place(tm: list[float], cm: list[float]) -> tuple[float, float]:
    return (
        tm[4] * cm[0] + tm[5] * cm[2] + cm[4],
        tm[4] * cm[1] + tm[5] * cm[3] + cm[5],
    )


def _scale(tm: list[float], cm: list[float]) -> float:
    """How much a font's height grows on its way to the page."""
    x = tm[2] * cm[0] + tm[3] * cm[2]
    y = tm[2] * cm[1] + tm[3] * cm[3]
    return math.hypot(x, y)
