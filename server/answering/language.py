"""Which language a question is in: by script, then by function words, else the site's own."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

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


def question_language(text: str, fallback: str = "en") -> str:
    """Primary language subtag of `text`; `fallback` when neither its script nor its words tell."""
    for pattern, language in _SCRIPTS:
        found = len(pattern.findall(text))
        if found and found * 3 >= sum(unicodedata.category(char)[0] == "L" for char in text):
            return language
    words = re.findall(r"[^\W\d_]+", text.lower())
    votes = Counter(
        language for language, stops in STOP_WORDS.items() for word in words if word in stops
    ).most_common(2)
    if not votes or (len(votes) > 1 and votes[0][1] == votes[1][1]):
        tied = {language for language, count in votes if votes and count == votes[0][1]}
        return fallback if not tied or fallback in tied else min(tied, key=lambda tag: (tag != "en", tag))
    return votes[0][0]
