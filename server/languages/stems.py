"""Stems words with Snowball, by the language of the text and the script of the word."""

import threading
from typing import Protocol

import Stemmer

from server.languages.scripts import script_of, script_of_language

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali",
    "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
_USUAL = {
    "latin": "en", "cyrillic": "ru", "greek": "el", "arabic": "ar", "devanagari": "hi", "tamil": "ta",
    "armenian": "hy",
}  # fmt: skip
"""Language assumed for a word whose script is not that of the text's language."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802, RUF100 (the library's name)


class _Stemmers(threading.local):
    """One set of stemmers per thread, because a Snowball stemmer has internal state."""

    def __init__(self) -> None:
        self.by_algorithm: dict[str, _Stemmer] = {}

    def get(self, algorithm: str) -> _Stemmer:
        if algorithm not in self.by_algorithm:
            # Each word is stemmed once (server.indexes.tokens), so a cache in every thread has no use.
            self.by_algorithm[algorithm] = Stemmer.Stemmer(algorithm, 0)
        return self.by_algorithm[algorithm]


_stemmers = _Stemmers()


def language_of_word(word: str, language: str) -> str:
    """Return the language of a word: that of its text, unless its script belongs to another."""
    script = script_of(word)
    if language and script_of_language(language) == script:
        return language
    return _USUAL.get(script, "")


def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word, or the word itself in a language without a stemmer."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return word
    return _stemmers.get(algorithm).stemWord(word) or word
