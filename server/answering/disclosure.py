"""What visitors read about who answers: an automatic assistant, or an AI assistant once a model writes.

Article 50(1) of the EU AI Act asks for it. An operator may add a text of their own, which clients show after
the sentence, but cannot take the sentence away.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from server.answering.phrases import Phrase, say
from server.domain.look import one_line
from server.domain.site import Site
from server.languages.loader import languages

DISCLOSURE = "disclosure"
"""The key of the operator's own text in `Site.options`."""
DISCLOSURE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The sentence in one language, and the operator's own text."""

    text: str
    more: str
    is_ai: bool
    language: str

    @classmethod
    def of(cls, site: Site, language: str, *, is_ai: bool) -> Disclosure:
        """Return it in `language` if Docent knows that one, else in the site's language or English."""
        code = next((one for one in (language, site.language) if one and one in _spoken()), "en")
        return cls(say(_phrase(is_ai), code), added_text(site), is_ai, code)

    def to_json(self) -> dict[str, object]:
        """Return all four."""
        return asdict(self)


def added_text(site: Site) -> str:
    """Return the operator's own text, or an empty one."""
    text = site.options.get(DISCLOSURE)
    return one_line(text)[:DISCLOSURE_CHARS] if isinstance(text, str) else ""


def seen_text(site: Site, text: str, more: str) -> str:
    """Return what a client reports to have shown, so far as it is Docent's sentence and the operator's text;
    empty when it is not. Nothing else is stored, because a client could report anything."""
    if text not in {say(_phrase(is_ai), code) for code in _spoken() for is_ai in (False, True)}:
        return ""
    return f"{text} {more}" if more and more == added_text(site) else text


def _phrase(is_ai: bool) -> Phrase:
    return Phrase.AI_ASSISTANT if is_ai else Phrase.ASSISTANT


def _spoken() -> list[str]:
    return [code for code, one in languages().items() if one.texts.get(Phrase.ASSISTANT)]
