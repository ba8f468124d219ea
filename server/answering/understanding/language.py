"""Chooses the language of the answer: the one asked for ("auf Deutsch bitte"), else the question's."""

from server.languages.detector import text_language
from server.languages.loader import alternatives, compiled, languages

LONGEST = 500
"""Longer texts are not searched for a requested language."""
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
    """Return the primary subtag of the language to answer in: the one the visitor asks for, else the
    language of `text`, else `fallback`."""
    return requested_language(text)[0] or text_language(text, fallback)


def requested_language(text: str) -> tuple[str, str]:
    """Return (requested language, the text without the request); ("", text) without a request."""
    found = _WISH.search(text) if len(text) <= LONGEST else None
    if not found:
        return "", text
    named = next(group for group in found.groups() if group)
    language = next((code for code, names in _NAMES if names.fullmatch(named)), "")
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return (language, " ".join(rest.split()).strip(" ,;:：，、–-")) if language else ("", text)
