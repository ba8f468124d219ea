"""Docent's own phrases in the visitor's language, or in English when a language lacks one."""

from enum import StrEnum

from server.languages.loader import language as known
from server.languages.loader import languages as all_known

_ENGLISH = known("en").texts


class Phrase(StrEnum):
    """Names of the phrases in the language files. They say nothing about the site except its title."""

    REFUSED = "refused"
    COVERS = "covers"
    NEAREST = "nearest"
    GREETING = "greeting"
    QUOTED = "quoted"
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


def greeting(language: str, title: str) -> str:
    """Return the widget's opening line, which also answers a greeting."""
    return say(Phrase.GREETING, language, title)


def quoted(language: str) -> str:
    """Return the line before an answer made of the site's own sentences."""
    return say(Phrase.QUOTED, language)


def languages() -> frozenset[str]:
    """Return the languages in which Docent has phrases."""
    return frozenset(code for code, one in all_known().items() if one.texts.refused)


def asks_which(text: str) -> bool:
    """Return whether `text` begins like a clarifying question."""
    ends = (one.texts.which.rsplit("{title}", 1)[-1] for one in all_known().values() if one.texts.which)
    return any(end in text.split("\n", 1)[0] for end in ends)
