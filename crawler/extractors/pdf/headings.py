"""Headings among the lines of a PDF: lines named by bookmarks, else larger or bold lines."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from crawler.extractors.pdf.lines import Line

_LARGER = 1.12
_LONGEST = 150
_MOST_LEVELS = 5
_MOST_LINES = 3
"""Limit for one heading."""
_MOST_BOOKMARKS = 100
"""Limit for one page."""
_MOST_LOOKED_AT = 3000
"""Lines of a page that are searched for its bookmarks."""
_MOST_FOLDED = 400
_NUMBER = re.compile(r"(?:chapter|section|appendix|part|kapitel|anhang|chapitre|annexe|第)?"
                     r"[\dA-Zivx]{0,4}(?:\d|章|节)*", re.IGNORECASE)  # fmt: skip
_SENTENCE_END = re.compile(r"[.,:;!?。，：；]$")

Bookmarks = Mapping[int, Sequence[tuple[int, str]]]
"""Page, from 0 -> (level from 1, title) of each bookmark that leads there, in order."""


class HeadingFinder:
    """Levels of lines, for one file."""

    def __init__(self, pages: Sequence[Sequence[Line]], bookmarks: Bookmarks) -> None:
        letters: Counter[float] = Counter()
        bold = 0
        for line in (line for lines in pages for line in lines):
            letters[line.size] += len(line.text)
            bold += len(line.text) * line.bold
        self.body_size = letters.most_common(1)[0][0] if letters else 0.0
        self._bookmarks = bookmarks
        self._use_bold = bold * 6 < letters.total()
        large = Counter(
            line.size for lines in pages for line in lines if self._is_large(line) and _may_be_heading(line)
        )
        self._levels = {size: min(n, _MOST_LEVELS) for n, size in enumerate(sorted(large, reverse=True), 1)}

    def on_page(self, number: int, lines: Sequence[Line]) -> dict[int, tuple[int, int]]:
        """Index of a heading's first line -> (its level, how many lines it takes)."""
        if self._bookmarks:
            return self._named(self._bookmarks.get(number, ()), lines)
        found: dict[int, tuple[int, int]] = {}
        place = 0
        while place < len(lines):
            level = self._level_by_look(lines, place)
            count = 1
            while level and count < _MOST_LINES and self._goes_on(lines, place, count):
                count += 1
            if level:
                found[place] = (level, count)
            place += count
        return found

    def _named(self, wanted: Sequence[tuple[int, str]], lines: Sequence[Line]) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        start = 0
        said = [_folded(line.text[:_MOST_FOLDED]) for line in lines[:_MOST_LOOKED_AT]]
        for level, title in wanted[:_MOST_BOOKMARKS]:
            key = _folded(title[:_MOST_FOLDED])
            for place in range(start, len(said)):
                count = _lines_of(key, said, place)
                if count:
                    found[place] = (level, count)
                    start = place + count
                    break
        return found

    def _level_by_look(self, lines: Sequence[Line], place: int) -> int:
        line = lines[place]
        if not _may_be_heading(line):
            return 0
        if self._is_large(line):
            return self._levels.get(line.size, _MOST_LEVELS)
        after = lines[place + 1] if place + 1 < len(lines) else None
        alone = line.bold and not line.code and len(line.text) <= 80 and not _SENTENCE_END.search(line.text)
        starts = line.text.lstrip()[:1]
        if self._use_bold and alone and after is not None and not after.bold and not starts.islower():
            return min(len(self._levels) + 1, _MOST_LEVELS + 1)
        return 0

    def _goes_on(self, lines: Sequence[Line], place: int, count: int) -> bool:
        """Whether the next line belongs to the heading: close below it, with the same size and face."""
        if place + count >= len(lines):
            return False
        first, last, after = lines[place], lines[place + count - 1], lines[place + count]
        alike = self._is_large(after) and abs(after.size - first.size) < 0.2 and after.bold == first.bold
        return alike and _may_be_heading(after) and 0 < last.y - after.y < 1.6 * first.size

    def _is_large(self, line: Line) -> bool:
        return line.size > self.body_size * _LARGER


def _may_be_heading(line: Line) -> bool:
    text = line.text.strip()
    return 1 < len(text) <= _LONGEST and any(map(str.isalpha, text)) and not text.endswith((",", ";"))


def _lines_of(key: str, lines: Sequence[str], place: int) -> int:
    """Number of lines from `place` on that spell `key`, perhaps after a number; 0 if they do not."""
    said = ""
    for count in range(1, min(_MOST_LINES, len(lines) - place) + 1):
        said += lines[place + count - 1]
        if said == key or (key and said.endswith(key) and _NUMBER.fullmatch(said[: -len(key)])):
            return count
        if len(said) > len(key) + 16:
            return 0
    return 0


def _folded(text: str) -> str:
    """Letters and digits only: bookmarks and pages differ in spaces, hyphens and quotation marks."""
    return "".join(filter(str.isalnum, text)).casefold()
