"""Which language a question is in, and in which one the visitor wants the answer.

By what the visitor says of it, then by script, then by function words and common words, else the site's own.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from server.answering.glossary import telling_words
from server.answering.language_wishes import wish
from server.indexes.stopwords import STOP_WORDS

_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), "ko"),
    (re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]"), "zh"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
)
_MARKS = (
    (re.compile(r"[¿¡ñ]"), "es"),
    (re.compile(r"[ãõ]"), "pt"),
    (re.compile(r"[ßäöü]"), "de"),
    (re.compile(r"[èêœùûî]|\b(?:qu|l|d|j|n|s|c)['’]"), "fr"),
)
"""Letters that hardly another of the known languages has; one counts as much as a function word."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")
_CODE = re.compile(r"[_/\\<>=@`]|\w\(\)|^[a-z0-9]+-[a-z0-9]+\W*$")
_QUOTED = re.compile(r"`[^`]*`")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
"""Identifiers, commands, addresses, and words in capitals, are in no language."""
_SIMPLIFIED = frozenset(
    "么这请问题对时间设码账订单发货费开关务产网络连样员录册购买质过还进远运软载错误数据库邮说让给们"
)
"""Characters of modern Chinese that Japanese does not write."""


def question_language(text: str, fallback: str = "en") -> str:
    """Primary subtag of the language to answer in: the one that the visitor asks for, else that of `text`;
    `fallback` when nothing tells."""
    return wish(text)[0] or text_language(text, fallback)


def text_language(text: str, fallback: str = "en") -> str:
    """Primary subtag of the language that `text` is in; `fallback` when neither script nor words tell."""
    letters = sum(unicodedata.category(char)[0] == "L" for char in text)
    for pattern, language in _SCRIPTS:
        found = len(pattern.findall(text))
        if found and found * 3 >= letters:
            return _written_in_han(text, fallback) if language == "zh" else language
    plain = " ".join(word for word in _QUOTED.sub(" ", text).split() if not _CODE.search(word))
    plain = plain if plain.isupper() else _CAPITALS.sub(" ", plain)
    votes = _votes(plain.lower())
    best = max(votes.values(), default=0)
    tied = {language for language, count in votes.items() if count == best}
    if not best or fallback in tied:
        return fallback
    return min(tied, key=lambda tag: (tag != "en", tag))


def _votes(text: str) -> Counter[str]:
    votes: Counter[str] = Counter()
    words = [word.rstrip("'’") for word in _WORD.findall(text)]
    for language, stops in STOP_WORDS.items():
        votes[language] += 2 * sum(word in stops for word in words)
        votes[language] += sum(word in telling_words(language) for word in words)
    for pattern, language in _MARKS:
        votes[language] += 2 * bool(pattern.search(text))
    return +votes


def _written_in_han(text: str, fallback: str) -> str:
    """Chinese, or Japanese without kana on a Japanese site."""
    return "ja" if fallback == "ja" and not _SIMPLIFIED.intersection(text) else "zh"
