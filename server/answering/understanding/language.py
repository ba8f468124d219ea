"""In which language the visitor wants the answer: as asked for ("auf Deutsch bitte"), else as written."""

from __future__ import annotations

from server.languages.detector import text_language
from server.languages.loader import alternatives, compiled, languages

LONGEST = 500
"""A longer text is not searched for a wish."""
_NAMES = tuple(
    (code, compiled(one.answer_language.names))
    for code, one in languages().items()
    if one.answer_language.names
)
_ANY = f"({alternatives(lambda one: one.answer_language.names)})"
_WISHES = "|".join(
    pattern.replace("{language}", _ANY)
    for one in languages().values()
    for pattern in one.answer_language.wishes
)
_WISH = compiled(rf"(?:[,;.:(–-]\s*|^|\b)(?:{_WISHES or '(?!)'})(?:\s*[).!?。]*)")


def question_language(text: str, fallback: str = "en") -> str:
    """Primary subtag of the language to answer in: the one that the visitor asks for, else that of `text`;
    `fallback` when nothing tells."""
    return wish(text)[0] or text_language(text, fallback)


def wish(text: str) -> tuple[str, str]:
    """(language asked for, the text without that wish); ("", text) when none is asked for."""
    found = _WISH.search(text) if len(text) <= LONGEST else None
    if not found:
        return "", text
    named = next(group for group in found.groups() if group)
    language = next((code for code, names in _NAMES if names.fullmatch(named)), "")
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return (language, " ".join(rest.split()).strip(" ,;:：，、–-")) if language else ("", text)
