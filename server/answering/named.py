"""Names in a question: what a site that never mentions them cannot answer about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from server.languages.loader import language as known

_WORD = re.compile(r"[A-Za-z][\w.+-]*\w|[A-Z]")
_IDENTIFIER = re.compile(r"[A-Za-z]_|_[A-Za-z]|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\w\.[A-Za-z]")
_UNSPACED = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u0400-\u052f\u0600-\u06ff]")
_EDITION = re.compile(
    r"""\b(?P<said>version|release|edition|v)\.?\ ?(?P<said_number>\d+(?:\.\d+)*)\b
      | (?<=[\w,]\ )(?P<named>[A-Z][A-Za-z]*)\ v?(?P<named_number>\d+(?:\.\d+)*)\b(?!\ ?%)  # not first
      | \b(?P<dotted>[A-Za-z]+)\ v?(?P<dotted_number>\d+(?:\.\d+){1,2})\b(?![.\d/]|\ ?%)""",
    re.X,
)
_SENTENCE_ENDS = (".", "!", "?", ":", "…")


def names(text: str, language: str) -> list[str]:
    """Words that name one thing: identifiers, words with an unexpected capital, and Latin words in a text of
    another script. German writes every noun with a capital, so there only identifiers count."""
    return list(dict.fromkeys(_names(text, language)))


def editions(text: str) -> list[tuple[str, str]]:
    """Versions and models: ("Name", "15") of "since Name 15", ("name", "2.4") of "name 2.4"."""
    found = (
        (match[kind], match[f"{kind}_number"])
        for match in _EDITION.finditer(text)
        for kind in ("said", "named", "dotted")
        if match[kind]
    )
    return list(dict.fromkeys(found))


def lacks_edition(text: str, name: str, number: str) -> bool:
    """Whether the text knows other versions of the name, or of a proper name none at all and not this number.

    15.2 is a version of 15; 115 and 2.15 are not.
    """
    said = rf"\b(?:{re.escape(name)}|version|release|v)[\W_]{{0,3}}(?:version |release |v)?"
    this = rf"(?<![\d.]){re.escape(number)}(?!\d)"
    if re.search(rf"{said}\d", text, re.I):
        return re.search(said + this, text, re.I) is None
    return name[0].isupper() and re.search(this, text) is None


def _names(text: str, language: str) -> Iterator[str]:
    foreign = bool(_UNSPACED.search(text))
    shouting = text.isupper()
    tells = not known(language).writing.capital_nouns
    for found in _WORD.finditer(text):
        before = text[: found.start()].rstrip()
        starts = not before or before.endswith(_SENTENCE_ENDS)
        capital = tells and found[0][0].isupper() and not starts and not shouting
        named = capital or foreign or (not shouting and _IDENTIFIER.search(found[0]))
        if named and len(found[0]) > 1:
            yield found[0]
