"""What Docent itself says to visitors, in their language; English where a language lacks a text."""

from __future__ import annotations

from enum import StrEnum

from server.languages.loader import language as known
from server.languages.loader import languages as all_known

_ENGLISH = known("en").texts


class Said(StrEnum):
    """What there is to say, under the names of the language files; nothing here is about the site beyond its
    title."""

    REFUSED = "refused"
    COVERS = "covers"
    NEAREST = "nearest"
    GREETING = "greeting"
    QUOTED = "quoted"
    EXAMPLES = "examples"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    WELLBEING = "wellbeing"
    IDENTITY = "identity"
    PERSON = "person"
    LEAVE = "leave"
    CONTACT = "contact"
    NO_CONTACT = "no_contact"
    ABOUT = "about"
    WHICH = "which"


def say(what: Said, language: str, title: str = "") -> str:
    """In `language`, in English when it is not known."""
    text: str = getattr(known(language).texts, what) or getattr(_ENGLISH, what)
    return text.format(title=title)


def refusal(language: str, title: str) -> tuple[str, str, str]:
    """(what was not found, what comes before the site's topics, what comes before nearest pages)."""
    return say(Said.REFUSED, language, title), say(Said.COVERS, language), say(Said.NEAREST, language)


def greeting(language: str, title: str) -> str:
    """What the widget says before the first question, and the answer to a greeting."""
    return say(Said.GREETING, language, title)


def quoted(language: str) -> str:
    """What stands before an answer that is made of the site's own sentences."""
    return say(Said.QUOTED, language)


def languages() -> frozenset[str]:
    """Languages in which Docent itself can speak."""
    return frozenset(code for code, one in all_known().items() if one.texts.refused)


def said_which(text: str) -> bool:
    """Whether `text` begins as a question about what is meant."""
    ends = (one.texts.which.rsplit("{title}", 1)[-1] for one in all_known().values() if one.texts.which)
    return any(end in text.split("\n", 1)[0] for end in ends)
