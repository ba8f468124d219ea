"""Lines of a PDF joined to headings, paragraphs, lists and code, in the line conventions of crawler.page."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from crawler.extractors.pdf.lines import MARKER, Line
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
        found: list[Paragraph] = []
        place = 0
        for start, end, rows in find_tables(lines):
            found += self._untabled(lines[place:start])
            found.append(Paragraph("table", items=rows))
            place = end
        return found + self._untabled(lines[place:])

    def _untabled(self, lines: Sequence[Line]) -> list[Paragraph]:
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
        if paragraph.kind == "table":
            return "\n".join("\t".join(map(fold, row)).rstrip("\t") for row in paragraph.items)
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


_ALIGNED = 4.0
"""Points by which the cells of a column may be apart."""
_SHORT_CELL = 30
"""Most characters, in the mean, of the cells of at least one column; otherwise these are columns of text."""
_NARROW = 0.4
"""Width of a narrow letter, in heights of the font."""
_LOOK_BACK = 8
"""Rows that are searched for one at the height of a line."""
_LOOK_FAR = 60
_AMOUNT = 8
"""Characters of a price or number: only next to these a column is as likely as a second column of text."""
_MOST_COLUMNS = 20


def find_tables(lines: Sequence[Line]) -> Iterator[tuple[int, int, list[list[str]]]]:
    """Yield (index of the first line, index after the last, rows of cells) of each table, in order.

    Rows are lines at one height with as many cells, most of them at the same places as in the first row. A
    line with fewer cells, each below a cell of the row above, continues that row.
    """
    rows = list(_rows(lines))
    place = 0
    while place < len(rows):
        columns = [x for x, _ in rows[place].cells]
        end = place + 1
        while (
            1 < len(columns) <= _MOST_COLUMNS
            and end < len(rows)
            and _goes_below(rows[end - 1], rows[end], columns)
        ):
            end += 1
        table = rows[place:end]
        are_lists = all(_BULLET.match(text) for row in table for _, text in row.cells)
        if not are_lists and sum(len(row.cells) == len(columns) for row in table) > 1 and len(columns) > 1:
            filled = _filled(columns, table)
            if min(sum(map(len, cells)) for cells in zip(*filled, strict=True)) <= _SHORT_CELL * len(filled):
                yield min(row.first for row in table), max(row.last for row in table) + 1, filled
        place = end


@dataclass(slots=True)
class _Row:
    """Lines at one height, by their indexes."""

    first: int
    last: int
    line: Line
    cells: list[tuple[float, str]]


def _rows(lines: Sequence[Line]) -> Iterator[_Row]:
    """Yield the lines at one height together. All lines of a cell may come before the next cell."""
    rows: list[_Row] = []
    for place, line in enumerate(lines):
        cells = _with_markers([cell for cell in line.cells if cell[1]])
        row = next((row for row in reversed(rows[-_LOOK_BACK:]) if _is_level(row, line)), None)
        if row is None:
            far = reversed(rows[-_LOOK_FAR:-_LOOK_BACK])
            row = next((row for row in far if _is_level(row, line) and _has_amount(row, line)), None)
        if row is not None and row.cells and cells and row.cells[-1][0] < cells[0][0]:
            row.cells += cells
            row.last = place
        else:
            at = len(rows)
            while at > max(0, len(rows) - _LOOK_BACK) and _is_beside(rows[at - 1], line, cells):
                at -= 1
            rows.insert(at, _Row(place, place, line, sorted(cells)))
    yield from rows


def _with_markers(cells: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the cells with each bullet or number of a list in the cell of its item: a list is no table."""
    found: list[tuple[float, str]] = []
    for x, text in cells:
        if found and MARKER.fullmatch(found[-1][1]):
            found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
        else:
            found.append((x, text))
    return found


def _is_level(row: _Row, line: Line) -> bool:
    return abs(row.line.y - line.y) < 0.4 * line.size


def _has_amount(row: _Row, line: Line) -> bool:
    return bool(row.cells) and (_is_amount(row.cells[-1][1]) or _is_amount(line.text.strip()))


def _is_amount(text: str) -> bool:
    return len(text) <= _AMOUNT and any(map(str.isdigit, text))


def _is_beside(row: _Row, line: Line, cells: Sequence[tuple[float, str]]) -> bool:
    """Return whether a line is to the right of the row, and higher."""
    return bool(cells and row.cells) and row.line.y < line.y and row.cells[0][0] < cells[0][0]


def _goes_below(above: _Row, row: _Row, columns: Sequence[float]) -> bool:
    """Return whether the row follows the one above closely, in the same columns."""
    distance = above.line.y - row.line.y
    near = 0 < distance < 6 * max(above.line.size, row.line.size)
    return near and not row.line.code and _fits(columns, row)


def _fits(columns: Sequence[float], row: _Row) -> bool:
    """Return whether a row has its cells in these columns, each in one of its own."""
    places = [_column(columns, x) for x, _ in row.cells]
    if not places or len(set(places)) < len(places):
        return False
    ends = [*columns[1:], float("inf")]
    if any(
        x + _NARROW * row.line.size * len(text) > ends[column]
        for column, (x, text) in zip(places, row.cells, strict=True)
    ):
        return False  # a line of text that goes on over the columns
    aligned = sum(
        abs(x - columns[column]) <= _ALIGNED for column, (x, _) in zip(places, row.cells, strict=True)
    )
    return aligned * 2 >= len(places)  # numbers may be set to the right


def _column(columns: Sequence[float], x: float) -> int:
    return min(range(len(columns)), key=lambda at: abs(columns[at] - x))


def _filled(columns: Sequence[float], rows: Sequence[_Row]) -> list[list[str]]:
    """Return the rows with a text for each column; lines that continue a row are joined to it."""
    whole = [row.line.y for row in rows if len(row.cells) == len(columns)]
    pitch = min((above - below for above, below in pairwise(whole)), default=0.0)
    found: list[list[str]] = []
    for above, row in zip([None, *rows], rows, strict=False):
        if len(row.cells) == len(columns):
            found.append([text for _, text in row.cells])
            continue
        begins = abs(row.cells[0][0] - columns[0]) <= _ALIGNED
        if above is None or (begins and above.line.y - row.line.y > 0.8 * pitch):
            found.append([""] * len(columns))
        for x, text in row.cells:
            column = _column(columns, x)
            found[-1][column] = f"{found[-1][column]} {text}".strip()
    return found


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
_SENTENCE_WITHIN = re.compile(r"[^\W\d]{2}[.!?]\s+\S")

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
        if not _may_be_heading(line) or _is_within_a_sentence(lines, place):
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
    if _BULLET.match(text) or text.endswith((",", ";")):
        return False
    return 1 < len(text) <= _LONGEST and any(map(str.isalpha, text))


def _is_within_a_sentence(lines: Sequence[Line], place: int) -> bool:
    """Return whether a line continues a sentence from the line above, or begins one that the line below
    continues: a paragraph may start in large or bold letters."""
    line = lines[place]
    text = line.text.strip()
    if place and text[:1].islower() and _is_close(lines[place - 1], line):
        return not _SENTENCE_END.search(lines[place - 1].text.rstrip())
    after = lines[place + 1] if place + 1 < len(lines) else None
    begins = after is not None and after.text.lstrip()[:1].islower() and _is_close(line, after)
    return begins and bool(_SENTENCE_WITHIN.search(text))


def _is_close(above: Line, below: Line) -> bool:
    return 0 < above.y - below.y < 2 * max(above.size, below.size)


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
