"""The note under an answer that quotes a page about a past event, or a post of an earlier year."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import lru_cache

from crawler.judging.page_kinds import LEGAL, POST, SAYS_ITS_DATE
from server.answering.phrases import past_event, past_page
from server.answering.verifying.citations import with_markers
from server.answering.verifying.dates import dates
from server.domain.answer import Answer, Citation
from server.domain.chunk import Chunk, PageWords

LONGEST = 300
"""Characters of a line that is searched for dates."""
LONGEST_DATE = 24
"""Characters of a written date."""
LONGEST_EVENT = timedelta(days=60)
"""Days that lie further apart are a period, such as the year of a report."""
BEFORE = 8
"""Characters before the day of a range that may be its year and month: "2024/06/"."""
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_UNTIL = r"[-–—~～]|to|until|bis|au|al|até|до|から|至|到"
_DAY_OF_MONTH = r"(?:[12]\d|3[01]|0?[1-9])(?!\d)"
_RANGE = re.compile(
    rf"\b{_DAY_OF_MONTH}{_ORDINAL}(?:\s[^\W\d]{{3,12}}\.?)?(?:,?\s\d{{4}})?\s?(?:{_UNTIL})\s?"
    rf"(?={_DAY_OF_MONTH}(?!,?\s(?:of|du|de|del|vom|di|van)\s\d)|\d{{4}}[-/.]\d)",
    re.I,
)
"""A day and what joins it to another day or a date. The number of a law has no days: that of 78-753 is too
large for one, that of 10-12 is followed by one."""
_DIGIT = re.compile(r"\d")
_NOTED = re.compile(
    r"\b(?:accessed|created|downloaded|edited|generated|modified|posted|printed|published|received|retrieved"
    r"|reviewed|submitted|updated)\b(?:\sby\s[^\d\n]{1,40})?,?(?:\s(?:at|on))?:?\s(?=[^.\n]{0,12}\d)",
    re.I,
)
"""What is said before a day that is not that of an event."""
_TIME = re.compile(r"\b\d{1,2}[:.]\d\d\b(?!\.)|\b\d{1,2}\s?(?:[ap]\.?m\b|uhr|h\b|時|点|시)", re.I)


class PastPages:
    """Says of an answer's pages that their day is over."""

    def __init__(
        self, page: Callable[[str], Sequence[Chunk]], today: Callable[[], date] = date.today
    ) -> None:
        """`page` returns the chunks of a page, by the address that visitors open."""
        self._page = page
        self._today = today

    def note(self, answer: Answer, language: str) -> str:
        """Return the line to put under the answer, a sentence for each day or year, with the numbers of the
        citations if it is not about all of them; "" for an answer from current pages."""
        notes: dict[str, list[int]] = {}
        for cited in answer.citations:
            if said := self._said_of(cited, language):
                notes.setdefault(said, []).append(cited.number)
        every = len(answer.citations)
        return " ".join(
            with_markers(said, "".join(f"[{number}]" for number in numbers) if len(numbers) < every else "")
            for said, numbers in notes.items()
        )

    def _said_of(self, cited: Citation, language: str) -> str:
        page, today = self._page(cited.url), self._today()
        if not page:
            return ""
        chunk = next(
            (one for one in page if cited.quote in one.text or PageWords(one.text).hold(cited.quote)), page[0]
        )
        ended = date.fromisoformat(chunk.ended) if chunk.ended else event_end(chunk, page)
        if ended and chunk.kind == LEGAL and not chunk.ended:
            return ""  # the terms of a fair, which name its days, hold as long as anybody asks
        if ended and chunk.kind != POST:
            return past_event(language, ended) if ended < today else ""
        year = int(chunk.dated[:4]) if chunk.kind == POST and chunk.dated else today.year
        return past_page(language, year) if year < today.year else ""


def event_end(section: Chunk, page: Sequence[Chunk]) -> date | None:
    """Return the last day that a page gives for an event: of a range of days, or a day with a time. None if
    neither the section, its headings nor the top of the page give one, or if a day there lacks its year."""
    near = [day for line in (section.title, *section.heading_path) for day in _event_days(line)]
    near += [day for chunk in (section, page[0]) for day in _days_of(chunk)]
    if not near or not all(near):
        return None
    return max(day for day in (*near, *(day for chunk in page for day in _days_of(chunk))) if day)


@lru_cache(maxsize=4_000)
def _days_of(chunk: Chunk) -> tuple[date | None, ...]:
    """Return the days of events in a chunk. Cached, because all chunks of a page are read for each answer
    that quotes it."""
    return tuple(day for line in chunk.text.split("\n") for day in _event_days(line[:LONGEST]))


def _event_days(line: str) -> list[date | None]:
    if not _DIGIT.search(line) or SAYS_ITS_DATE.match(line) or _NOTED.search(line):
        return []
    squeezed = _RANGE.sub("", line)
    if squeezed == line and not _TIME.search(line):
        return []
    if any(
        _is_period(line[max(0, at.start() - BEFORE) : at.end() + LONGEST_DATE])
        for at in _RANGE.finditer(line)
    ):
        return []
    return [_day(readings) for _, readings in dates(squeezed)]


def _is_period(text: str) -> bool:
    days = [day for _, readings in dates(text) if (day := _day(readings))]
    return bool(days) and max(days) - min(days) > LONGEST_EVENT


def _day(readings: frozenset[tuple[int, int, int]]) -> date | None:
    try:
        return date(*max(readings))
    except ValueError:  # without a year, or the 31st of June
        return None
