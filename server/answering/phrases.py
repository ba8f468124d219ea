"""Docent's own phrases in the visitor's language, or in English when a language lacks one."""

from datetime import date
from enum import StrEnum

from server.languages.loader import language as known
from server.languages.loader import languages as all_known
from server.languages.sections import Dates

_ENGLISH = known("en").texts


class Phrase(StrEnum):
    """Names of the phrases in the language files. They say nothing about the site except its title."""

    ASSISTANT = "assistant"
    AI_ASSISTANT = "ai_assistant"
    REFUSED = "refused"
    COVERS = "covers"
    NEAREST = "nearest"
    UNSURE = "unsure"
    DOUBTFUL = "doubtful"
    GREETING = "greeting"
    EXAMPLES = "examples"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    PRAISE = "praise"
    IDENTITY = "identity"
    GIBBERISH = "gibberish"
    INSULT = "insult"
    COMPLAINT_ANSWER = "complaint_answer"
    COMPLAINT_SERVICE = "complaint_service"
    EMERGENCY = "emergency"
    PERSON = "person"
    LEAVE = "leave"
    CONTACT = "contact"
    NO_CONTACT = "no_contact"
    ABOUT = "about"
    WHICH = "which"


def say(what: Phrase, language: str, title: str = "") -> str:
    """Return the phrase in `language`, or in English when the language has none."""
    text: str = getattr(known(language).texts, what) or getattr(_ENGLISH, what)
    return text.format(title=title)


def refusal(language: str, title: str) -> tuple[str, str, str]:
    """Return (the refusal, the line before the site's topics, the line before the nearest pages)."""
    return say(Phrase.REFUSED, language, title), say(Phrase.COVERS, language), say(Phrase.NEAREST, language)


def past_page(language: str, year: int) -> str:
    """Return the note on a page of a past year."""
    return _dated(language).past_page.format(year=year)


def past_event(language: str, ended: date) -> str:
    """Return the note on a page about an event that ended on this day."""
    said = _dated(language)
    month = said.months[ended.month - 1].split()[0] if said.months else ""
    parts = {"day": ended.day, "month": month, "Month": month.title(), "number": ended.month}
    return said.past_event.format(date=said.written.format(**parts, year=ended.year))


def _dated(language: str) -> Dates:
    """Return the words for dates in `language`, or in English when the language has no notes on the past."""
    own = known(language).dates
    return own if own.past_event else known("en").dates


def languages() -> frozenset[str]:
    """Return the languages in which Docent has phrases."""
    return frozenset(code for code, one in all_known().items() if one.texts.refused)


def asks_which(text: str) -> bool:
    """Return whether `text` begins like a clarifying question."""
    ends = (one.texts.which.rsplit("{title}", 1)[-1] for one in all_known().values() if one.texts.which)
    return any(end in text.split("\n", 1)[0] for end in ends)
