"""Classifies questions and sentences by their wording, without a model, in every language with a file.

The word lists are short on purpose. A missing word makes one answer slightly worse; a word that means
something else in another language would make many answers worse.
"""

import re
from functools import lru_cache

from server.languages.loader import alternatives, compiled, languages

_AMOUNT = compiled(alternatives(lambda one: one.questions.amount))
_DANGLING = compiled(f"^(?:{alternatives(lambda one: one.sentences.points_back)})")
_NUMBER = re.compile(r"\w*\d\w*")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "؟", "।", "”", '"', "）", ")")
_INTRODUCES = re.compile(r"[:：]\W{0,2}$")
_VALUE = re.compile(r"\d{2}|@|\w: \w")
"""An address, a telephone number, or a label with its value: "Role: Lead"."""
_TYPED_NAME = re.compile(r"[^\s()]+ \([^()]*\)")
"""Such as "max_connections (integer)"."""
_LABEL_WORDS = 6


@lru_cache(maxsize=1000)
def asks_for_amount(question: str) -> bool:
    """Return whether the answer is likely to contain a number."""
    return _AMOUNT.search(question) is not None


def says_number(text: str, language: str, question: str) -> bool:
    """Return whether a text contains a number, in digits or words, that the question does not contain. "3D
    printers" says nothing of how many 3D printers there are."""
    asked = frozenset(_NUMBER.findall(question.casefold()))
    return any(found not in asked for found in _NUMBER.findall(text.casefold())) or (
        (words := _number_words(language)) is not None and words.search(text) is not None
    )


@lru_cache(maxsize=100)
def _number_words(language: str) -> re.Pattern[str] | None:
    known = languages().get(language)
    words = [word for word in known.amounts.numbers if word != "-"] if known is not None else []
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE) if words else None


def refers_back(sentence: str) -> bool:
    """Return whether a sentence starts with a word that refers back, such as "However" or "These"."""
    return _DANGLING.match(sentence.lstrip("\"'“‘«(*_ ")) is not None


def introduces(sentence: str) -> bool:
    """Return whether a sentence introduces the next one, as a final colon does."""
    return _INTRODUCES.search(sentence) is not None


@lru_cache(maxsize=5_000)
def is_label(sentence: str) -> bool:
    """Return whether a line is only a label, such as "max_connections (integer)" or "Note". Labels contain
    words of the question but no information."""
    if _VALUE.search(sentence):
        return False
    if sentence.endswith(_ENDS) and not _TYPED_NAME.fullmatch(sentence):
        return False
    if sentence.isascii() or " " in sentence:
        return len(sentence.split()) < _LABEL_WORDS
    return len(sentence) < 2 * _LABEL_WORDS


def asks(sentence: str) -> bool:
    """Return whether a sentence of a page is a question, and so cannot be an answer."""
    return sentence.rstrip("\"'”’»)").endswith(("?", "？", "؟"))
