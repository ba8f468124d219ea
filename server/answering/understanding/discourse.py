"""Classifies questions and sentences by their wording, without a model, in every language with a file.

The word lists are short on purpose. A missing word makes one answer slightly worse; a word that means
something else in another language would make many answers worse.
"""

import re
from functools import lru_cache

from server.languages.loader import alternatives, compiled

_AMOUNT = compiled(alternatives(lambda one: one.questions.amount))
_DANGLING = compiled(f"^(?:{alternatives(lambda one: one.sentences.points_back)})")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "؟", "।", "”", '"', "）", ")")
_INTRODUCES = re.compile(r"[:：]\W{0,2}$")
_LABEL_WORDS = 6


@lru_cache(maxsize=1000)
def asks_for_amount(question: str) -> bool:
    """Return whether the answer is likely to contain a number."""
    return _AMOUNT.search(question) is not None


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
    if re.search(r"\d{2}|@", sentence):
        return False  # an address or a phone number
    if sentence.endswith(_ENDS) and not re.fullmatch(r"[^\s()]+ \([^()]*\)", sentence):
        return False
    if sentence.isascii() or " " in sentence:
        return len(sentence.split()) < _LABEL_WORDS
    return len(sentence) < 2 * _LABEL_WORDS


def asks(sentence: str) -> bool:
    """Return whether a sentence of a page is a question, and so cannot be an answer."""
    return sentence.rstrip("\"'”’»)").endswith(("?", "？", "؟"))
