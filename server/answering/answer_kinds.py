"""Questions for a price, a phone number or an email address: the answer must contain one."""

import re
from functools import lru_cache

from server.languages.loader import alternatives, compiled

_PHONE = r"(?<![\w.])(?:\+|\(?0)[\d ()/.-]{6,}\d|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b|\b1?-?8\d\d-[\dA-Z-]{7,}"
_MONEY = "[$€£¥₩₹₽]"
_CURRENCY = alternatives(lambda one: one.facts.currency)
_KINDS = (
    (
        compiled(alternatives(lambda one: one.facts.price_asked)),
        compiled(
            rf"{_MONEY}\s?\d|\d\s?(?:{_MONEY}|usd|eur|gbp|{_CURRENCY})"
            rf"|{alternatives(lambda one: one.facts.price_told)}"
        ),
    ),
    (compiled(alternatives(lambda one: one.facts.phone_asked)), re.compile(_PHONE)),
    (compiled(alternatives(lambda one: one.facts.email_asked)), re.compile(r"[\w.+-]+@[\w-]+\.\w")),
)


@lru_cache(maxsize=1000)
def requested_facts(question: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each kind of fact that the question asks for, which several steps need."""
    return tuple(fact for asks, fact in _KINDS if asks.search(question))


def lacks_requested_fact(question: str, texts: str) -> bool:
    """Return whether the question asks for a kind of fact that does not occur in `texts`."""
    return any(not fact.search(texts) for fact in requested_facts(question))
