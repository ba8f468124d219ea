"""The language of a piece of a page, where it is another than the page says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from server.indexes.stopwords import STOP_WORDS

_SCRIPTS = (
    (re.compile(r"[\u3041-\u30ff]"), "ja", frozenset({"ja"})),
    (re.compile(r"[\uac00-\ud7a3]"), "ko", frozenset({"ko"})),
    (re.compile(r"[\u3400-\u9fff]"), "zh", frozenset({"zh", "ja", "yue"})),
    (
        re.compile(r"[\u0400-\u04ff]"),
        "ru",
        frozenset({"ru", "uk", "be", "bg", "sr", "mk", "kk", "mn", "ky", "tg"}),
    ),
    (re.compile(r"[\u0370-\u03ff]"), "el", frozenset({"el"})),
    (re.compile(r"[\u0590-\u05ff]"), "he", frozenset({"he", "yi"})),
    (re.compile(r"[\u0600-\u06ff]"), "ar", frozenset({"ar", "fa", "ur", "ps", "ckb", "ug"})),
    (re.compile(r"[\u0900-\u097f]"), "hi", frozenset({"hi", "mr", "ne", "sa"})),
    (re.compile(r"[\u0e00-\u0e7f]"), "th", frozenset({"th"})),
)
"""(letters, language they are taken for, languages written in them)."""
_BEYOND_LATIN = re.compile(r"[\u0370-\u1fff\u3041-\ud7a3]")
_LETTERS = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]+")
_LANGUAGES: dict[str, list[str]] = defaultdict(list)
for _language, _words in STOP_WORDS.items():
    for _word in _words:
        _LANGUAGES[_word].append(_language)
ENOUGH_VOTES = 5
"""Function words that must agree before a page's own word on its language is not believed."""


def language_of(text: str, declared: str) -> str:
    """Primary subtag of the text's language; `declared` where the text gives no reason to doubt it."""
    if _BEYOND_LATIN.search(text):
        letters = len(_LETTERS.findall(text))
        for pattern, usual, possible in _SCRIPTS:
            if letters and len(pattern.findall(text)) * 3 >= letters:
                return declared if declared in possible else usual
    known_words = (word for word in _WORDS.findall(text.lower()) if word in _LANGUAGES)
    votes = Counter(language for word in known_words for language in _LANGUAGES[word])
    if not votes:
        return declared
    (winner, most) = votes.most_common(1)[0]
    if not declared:
        return winner
    return (
        winner if declared in STOP_WORDS and most >= ENOUGH_VOTES and most > 3 * votes[declared] else declared
    )
