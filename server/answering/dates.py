"""Dates in different writings, as (year, month, day); year 0 when none is written."""

from __future__ import annotations

import re

_MONTHS = (
    "january jan januar jänner janvier enero janeiro января январь يناير",
    "february feb februar février febrero fevereiro февраля февраль فبراير",
    "march mar märz mars marzo março марта март مارس",
    "april apr avril abril апреля апрель أبريل",
    "may mai mayo maio мая май مايو",
    "june jun juni juin junio junho июня июнь يونيو",
    "july jul juli juillet julio julho июля июль يوليو",
    "august aug août agosto августа август أغسطس",
    "september sep sept septembre septiembre setembro сентября сентябрь سبتمبر",
    "october oct okt oktober octobre octubre outubro октября октябрь أكتوبر",
    "november nov novembre noviembre novembro ноября ноябрь نوفمبر",
    "december dec dez dezember décembre diciembre dezembro декабря декабрь ديسمبر",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAMES = "|".join(sorted(map(re.escape, _MONTH_OF), key=len, reverse=True))
_WRITINGS = (
    re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<d>\d{1,2})[-/.]\s?(?P<m>\d{1,2})[-/.]\s?(?P<y>\d{4})\b"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?\s(?:of\s|de\s)?(?P<name>{_NAMES})\b\.?(?:,?\s(?:de\s)?(?P<y>\d{{4}}))?",
        re.I,
    ),
    re.compile(
        rf"\b(?P<name>{_NAMES})\.?\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s(?P<y>\d{{4}}))?", re.I
    ),
    re.compile(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日号號일]"),
)

Date = tuple[int, int, int]


def dates(text: str) -> list[tuple[str, frozenset[Date]]]:
    """(as written, the dates that this may mean): 03/04/2024 may be in March or in April."""
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


def without_dates(text: str) -> str:
    """The rest of the text, so that a date's numbers are not taken for amounts."""
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
