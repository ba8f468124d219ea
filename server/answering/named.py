"""Names in a question: what a site that never mentions them cannot answer about."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[A-Za-z][\w.+-]*\w|[A-Z]")
_IDENTIFIER = re.compile(r"[A-Za-z]_|_[A-Za-z]|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\w\.[A-Za-z]")
_UNSPACED = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u0400-\u052f\u0600-\u06ff]")
_EDITION = re.compile(
    r"""\b(?:version|release|edition|v)\.?\ ?(?P<said>\d+(?:\.\d+)*)\b   # version 15
      | (?<=[\w,]\ )[A-Z][A-Za-z]*\ v?(?P<named>\d+(?:\.\d+)*)\b(?!\ ?%)     # Name 15, not at the beginning
      | \b[A-Za-z]+\ v?(?P<dotted>\d+(?:\.\d+)+)\b(?!\ ?%)                  # name 2.4""",
    re.X,
)
_SENTENCE_ENDS = (".", "!", "?", ":", "…")


def names(text: str, language: str) -> list[str]:
    """Words that name one thing: identifiers, words with an unexpected capital, and Latin words in a text of
    another script. German writes every noun with a capital, so there only identifiers count."""
    return list(dict.fromkeys(_names(text, language)))


def editions(text: str) -> list[str]:
    """Numbers of versions and models that stand behind a name: 15 in "since Name 15", 2.4 in "name 2.4"."""
    found = (match["said"] or match["named"] or match["dotted"] for match in _EDITION.finditer(text))
    return list(dict.fromkeys(found))


def mentions_edition(text: str, number: str) -> bool:
    """Whether the number, or a version of it, stands in the text: 15 and 15.2, but neither 115 nor 2.15."""
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text) is not None


def _names(text: str, language: str) -> Iterator[str]:
    foreign = bool(_UNSPACED.search(text))
    shouting = text.isupper()
    for found in _WORD.finditer(text):
        before = text[: found.start()].rstrip()
        starts = not before or before.endswith(_SENTENCE_ENDS)
        capital = found[0][0].isupper() and not starts and not shouting and language != "de"
        named = capital or foreign or (not shouting and _IDENTIFIER.search(found[0]))
        if named and len(found[0]) > 1:
            yield found[0]
