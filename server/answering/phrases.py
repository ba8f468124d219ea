"""Docent's own phrases in the visitor's language, or in English when a language lacks one."""

from datetime import date

from server.languages.loader import language as known
from server.languages.loader import languages as all_known
from server.languages.sections import Dates
from server.languages.sections import Phrase as Phrase

_ENGLISH = known("en").texts


def say(what: Phrase, language: str, title: str = "") -> str:
    """Return the phrase in `language`, or in English when the language has none."""
    text = known(language).texts.get(what) or _ENGLISH[what]
    return text.format(title=title)


def refusal(language: str, title: str) -> tuple[str, str, str]:
    """Return (the refusal, the line before the site's topics, the line before the nearest pages)."""
    return say(Phrase.REFUSED, language, title), say(Phrase.COVERS, language), say(Phrase.NEAREST, language)


def past_page(language: str, year: int) -> str:
    """Return the note on a page of a past year."""
    return _dated(language).past_page.format(year=year)


def past_event(language: str, ended: date) -> str:
    """Return the note on a page about an event that ended on this day."""
    return _dated(language).past_event.format(date=written_day(language, ended))


def written_day(language: str, day: date) -> str:
    """Return a day as it is written in `language`: 7 May 2025."""
    said = _dated(language)
    month = said.months[day.month - 1].split()[0] if said.months else ""
    parts = {"day": day.day, "month": month, "Month": month.title(), "number": day.month}
    return said.written.format(**parts, year=day.year)


def _dated(language: str) -> Dates:
    """Return the words for dates in `language`, or in English when the language has no notes on the past."""
    own = known(language).dates
    return own if own.past_event else known("en").dates


def languages() -> frozenset[str]:
    """Return the languages in which Docent has phrases."""
    return frozenset(code for code, one in all_known().items() if one.texts.get(Phrase.REFUSED))


def asks_which(text: str) -> bool:
    """Return whether `text` begins like a clarifying question."""
    asking = (one.texts.get(Phrase.WHICH) for one in all_known().values())
    return any(which.rsplit("{title}", 1)[-1] in text.split("\n", 1)[0] for which in asking if which)
