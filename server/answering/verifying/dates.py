"""Parses dates in several notations into (year, month, day). The year is 0 when it is not given."""

import re
from collections.abc import Iterable

from server.languages.loader import alternatives, compiled, languages

_MONTH_OF = {
    name: number
    for one in languages().values()
    for number, names in enumerate(one.dates.months, 1)
    for name in names.split()
}
_NAMES = "|".join(sorted(map(re.escape, _MONTH_OF), key=len, reverse=True)) or "(?!)"
_ORDINALS = alternatives(lambda one: one.dates.ordinals)
_BEHIND_MONTH = alternatives(lambda one: one.dates.ordinals_behind_month)
_OF = alternatives(lambda one: one.dates.of)
_YEAR, _MONTH, _DAY = (
    alternatives(lambda one: one.dates.year_sign),
    alternatives(lambda one: one.dates.month_sign),
    alternatives(lambda one: one.dates.day_sign),
)
_WRITINGS = (
    re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<d>\d{1,2})[-/.]\s?(?P<m>\d{1,2})[-/.]\s?(?P<y>\d{4})\b"),
    compiled(
        rf"\b(?P<d>\d{{1,2}})(?:\.|{_ORDINALS})?\s(?:(?:{_OF})\s)?(?P<name>{_NAMES})\b\.?(?:,?\s(?:(?:{_OF})\s)?(?P<y>\d{{4}}))?"
    ),
    compiled(
        rf"\b(?P<name>{_NAMES})\.?\s(?P<d>\d{{1,2}})(?:{_BEHIND_MONTH})?\b(?!\d)(?:,?\s(?P<y>\d{{4}}))?"
    ),
    compiled(
        rf"(?:(?P<y>\d{{4}})\s?(?:{_YEAR})\s?)?(?P<m>\d{{1,2}})\s?(?:{_MONTH})\s?(?P<d>\d{{1,2}})\s?(?:{_DAY})"
    ),
)

Date = tuple[int, int, int]


def dates(text: str) -> list[tuple[str, frozenset[Date]]]:
    """Return (date as written, its possible dates): 03/04/2024 may be in March or in April."""
    found = []
    taken: list[tuple[int, int]] = []
    for writing in _WRITINGS:
        for match in writing.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            readings = _readings(match)
            if readings:
                taken.append(match.span())
                found.append((match.group(), readings))
    return found


def meet(one: Iterable[Date], other: Iterable[Date]) -> bool:
    """Return whether both have a day in common. A day without a year is that of any year."""
    return any(a[1:] == b[1:] and (a[0] == b[0] or not a[0] or not b[0]) for a in one for b in other)


def without_dates(text: str) -> str:
    """Remove the dates from a text, so that their numbers do not count as amounts."""
    for shown, _ in dates(text):
        text = text.replace(shown, " ")
    return text


def _readings(match: re.Match[str]) -> frozenset[Date]:
    parts = match.groupdict()
    year, day = int(parts.get("y") or 0), int(parts["d"])
    month = _MONTH_OF[parts["name"].lower()] if parts.get("name") else int(parts["m"])
    either = {(year, month, day)}
    if not parts.get("name") and "/" in match.group() and not match.group().startswith(str(year)):
        either.add((year, day, month))
    return frozenset((y, m, d) for y, m, d in either if 1 <= m <= 12 and 1 <= d <= 31)
