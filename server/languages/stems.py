"""Stems words with Snowball, by the language of the text and the script of the word."""

import re
import threading

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

_ARTICLE = re.compile(r"^(?:[\u0648\u0641]?[\u0628\u0643]?\u0627\u0644|[\u0648\u0641]?\u0644\u0644)(?=\w{3})")
"""Arabic "the", alone or after "and", "so", "in", "as", "for"."""

_stemmers = threading.local()
"""One stemmer per algorithm and thread, because a Snowball stemmer has internal state."""


def language_of_word(word: str, language: str) -> str:
    """Return the language of a word: that of its text, unless its script belongs to another."""
    script = script_of(word)
    if language and script_of_language(language) == script:
        return language
    return _USUAL.get(script, "")


def without_article(word: str, language: str) -> str:
    """Return an Arabic word without its article, with which the stemmer removes other endings; any other word
    as it is."""
    return _ARTICLE.sub("", word) if language == "ar" else word


def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word, or the word itself in a language without a stemmer."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return word
    stemmer = getattr(_stemmers, algorithm, None)
    if stemmer is None:
        # Each word is stemmed once (server.indexes.tokens), so a cache in every thread has no use.
        stemmer = Stemmer.Stemmer(algorithm, 0)
        setattr(_stemmers, algorithm, stemmer)
    stemmed: str = stemmer.stemWord(word)
    return stemmed or word
