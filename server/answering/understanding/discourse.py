"""What the wording of a question or a sentence tells without a model, in the languages of the phrases.

Word lists are short on purpose: a word that is missing costs a little of an answer's quality, a word that
means something else in another language would cost it everywhere.
"""

from __future__ import annotations

import re

from server.languages.loader import alternatives, compiled

_AMOUNT = compiled(alternatives(lambda one: one.questions.amount))
_DANGLING = compiled(f"^(?:{alternatives(lambda one: one.sentences.points_back)})")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "؟", "।", "”", '"', "）", ")")
_INTRODUCES = re.compile(r"[:：]\W{0,2}$")
_LABEL_WORDS = 6


def asks_for_amount(question: str) -> bool:
    """Whether the answer is likely to hold a number."""
    return _AMOUNT.search(question) is not None


def leans_on_the_one_before(sentence: str) -> bool:
    """Whether a sentence opens with a word that points back, such as "However" or "These"."""
    return _DANGLING.match(sentence.lstrip("\"'“‘«(*_ ")) is not None


def introduces(sentence: str) -> bool:
    """Whether it announces what follows."""
    return _INTRODUCES.search(sentence) is not None


def is_label(sentence: str) -> bool:
    """Lines such as "max_connections (integer)" or "Note": they hold words that are asked for and tell
    nothing."""
    if re.search(r"\d{2}|@", sentence):
        return False  # an address, a number to call
    if sentence.endswith(_ENDS) and not re.fullmatch(r"[^\s()]+ \([^()]*\)", sentence):
        return False
    if sentence.isascii() or " " in sentence:
        return len(sentence.split()) < _LABEL_WORDS
    return len(sentence) < 2 * _LABEL_WORDS


def asks(sentence: str) -> bool:
    """Whether a sentence of a page is itself a question: it answers none."""
    return sentence.rstrip("\"'”’»)").endswith(("?", "？", "؟"))
