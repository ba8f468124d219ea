"""Detects the language of a text by its script, then by function words and common words.

A question has few words, so every hint counts, and without one a fallback is used. A piece of a page has many
words, so the language that the page declares is rejected only if most of them contradict it.
"""

import re
import unicodedata
from collections import Counter
from functools import cache

from server.languages.loader import language, languages
from server.languages.scripts import SCRIPTS, Script
from server.languages.stop_words import STOP_WORDS

ENOUGH_VOTES = 5
"""Different function words of another language required to overrule the declared language of a page: a table
can repeat one word on every line."""
_MARKS = tuple(
    (code, re.compile(one.writing.letters)) for code, one in languages().items() if one.writing.letters
)
"""Letters that hardly any other known language has. One counts as much as a function word."""
_BEYOND_LATIN = re.compile(r"[\u0370-\u1fff\u3041-\ud7a3]")
_LETTERS = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]))?")
_PLAIN_WORD = re.compile(r"(?<![\w.@/-])[^\W\d_]+(?![\w@/-]|\.\w)")
"""Parts of host names, addresses and compounds, such as "de" in "uni-bonn.de", are no function words."""
_GLOSSARY_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CODE = re.compile(r"[_/\\<>=@`]|\w\(\)|^[a-z0-9]+-[a-z0-9]+\W*$")
_QUOTED = re.compile(r"`[^`]*`")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
"""Identifiers, commands, addresses and words in capitals belong to no language. Of a text all in capitals,
only function words count."""


def text_language(text: str, fallback: str = "en") -> str:
    """Return the primary subtag of a question's language; `fallback` if it cannot be detected."""
    if not text.isascii():
        letters = sum(unicodedata.category(char)[0] == "L" for char in text)
        for script in SCRIPTS:
            found = len(script.letters.findall(text))
            if found and found * 3 >= letters:
                return _of_script(script, text, fallback)
    plain = " ".join(word for word in _QUOTED.sub(" ", text).split() if not _CODE.search(word))
    plain = plain if plain.isupper() else _CAPITALS.sub(" ", plain)
    return _most_voted(_votes(plain.lower(), plain.isupper()), fallback)


def piece_language(text: str, declared: str) -> str:
    """Return the primary subtag of the language of a piece of a page: `declared`, unless the text clearly
    contradicts it."""
    if _BEYOND_LATIN.search(text):
        letters = len(_LETTERS.findall(text))
        for script in SCRIPTS:
            if letters and len(script.letters.findall(text)) * 3 >= letters:
                return declared if declared in script.languages else script.usual
    plain = text if text.isupper() else _CAPITALS.sub(" ", text)
    counted = set(_PLAIN_WORD.findall(plain.lower()))
    votes = Counter(code for word in counted for code in _languages_of_word().get(word, ()))
    if not votes:
        return declared
    (winner, most) = votes.most_common(1)[0]
    if not declared:
        return winner
    sure = declared in STOP_WORDS and most >= ENOUGH_VOTES and most > 3 * votes[declared]
    return winner if sure else declared


def _votes(text: str, function_words_only: bool = False) -> Counter[str]:
    votes: Counter[str] = Counter()
    words = [word.rstrip("'’") for word in _WORD.findall(text)]
    for word in words:
        for code in _languages_of_word().get(word, ()):
            votes[code] += 2
        if not function_words_only:
            votes.update(_languages_told_by().get(word, ()))
    for code, pattern in _MARKS:
        votes[code] += 2 * bool(pattern.search(text))
    return +votes


def _most_voted(votes: Counter[str], fallback: str) -> str:
    best = max(votes.values(), default=0)
    tied = {code for code, count in votes.items() if count == best}
    if not best or fallback in tied:
        return fallback
    return min(tied, key=lambda code: (code != "en", code))


def _of_script(script: Script, text: str, fallback: str) -> str:
    """Return the usual language of a script, or another one that has a file and matches the words better."""
    own = language(script.usual).writing.own_characters
    if own:  # Chinese, or Japanese without kana on a Japanese site
        shared = fallback in script.languages and fallback in languages() and not set(own).intersection(text)
        return fallback if shared else script.usual
    able = [code for code in STOP_WORDS if code in script.languages]
    votes = _votes(text.lower()) if len(able) > 1 else Counter[str]()
    return max(able, key=lambda code: (votes[code], code == script.usual), default=script.usual)


@cache
def _telling_words(code: str) -> frozenset[str]:
    """Return the glossary words that identify a language. Words that English has too may be loanwords."""
    return _glossary_words(code) - (_glossary_words("en") if code != "en" else frozenset())


@cache
def _languages_told_by() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code in STOP_WORDS:
        for word in _telling_words(code):
            found.setdefault(word, []).append(code)
    return found


@cache
def _glossary_words(code: str) -> frozenset[str]:
    glossary = languages()[code].glossary if code in languages() else {}
    phrases = (phrase for row in glossary.values() for phrase in row)
    words = {word.lower() for phrase in phrases for word in _GLOSSARY_WORD.findall(phrase)}
    return frozenset(words) - STOP_WORDS.get(code, frozenset())


@cache
def _languages_of_word() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code, stops in STOP_WORDS.items():
        for word in stops:
            found.setdefault(word, []).append(code)
    return found
