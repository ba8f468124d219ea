"""Questions for a price, a phone number, an email address, a person or a contact, and what their answers
contain."""

import re
from functools import lru_cache

from server.languages.loader import alternatives, compiled, every_word

_PHONE = r"(?<![\w.])(?:\+|\(?0)[\d ()/.-]{6,}\d|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b|\b1?-?8\d\d-[\dA-Z-]{7,}"
_PHONE += r"|(?:(?i:\b(?:t[eé]l|tlf|tfno|(?:t[eé]l[eé])?(?:fon[oe]?|phone))\b)\s?[.:]{0,2}\s?:?|☎️?|📞)"
_PHONE += r"\s?\d(?:[ .]?\d){5}"
_EMAIL = r"(?<![\w.+-])[\w.+-]+(?:@|\s?[\[({]\s?at\s?[\])}]\s?)[\w-]+(?:\.\w|\s?[\[({]\s?dot\s?[\])}])"
"""Also as it is written to hide it from collectors: info [at] example [dot] org."""
_MONEY = "[$€£¥₩₹₽]"
_CURRENCY = alternatives(lambda one: one.facts.currency)
_NAME = (
    rf"(?!(?:{'|'.join(sorted(every_word(lambda one: one.facts.no_person)))})\b)"
    r"[A-ZÀ-Þ](?:[a-zß-ÿ'’-]+|[A-ZÀ-Þ'’-]+)(?![\w-])"
)
_PERSON = (
    rf"(?<![\w'’-]){_NAME}(?: [A-Z]\.)*(?: (?:de|van|von|da|der|den|la|le))*(?: {_NAME}){{1,2}}(?! [A-ZÀ-Þ])"
)
"""First and last name, in Latin letters."""
_KINDS = (
    (
        compiled(alternatives(lambda one: one.facts.price_asked)),
        compiled(
            rf"{_MONEY}\s?\d|\d\s?(?:{_MONEY}|usd|eur|gbp|{_CURRENCY})"
            rf"|{alternatives(lambda one: one.facts.price_told)}"
        ),
    ),
    (compiled(alternatives(lambda one: one.facts.phone_asked)), re.compile(_PHONE)),
    (compiled(alternatives(lambda one: one.facts.email_asked)), re.compile(_EMAIL)),
)


_WHO = (compiled(alternatives(lambda one: one.facts.person_asked)), re.compile(_PERSON))
_WHOM_TO_ASK = (
    compiled(alternatives(lambda one: one.facts.contact_asked)),
    re.compile(f"{_EMAIL}|{_PHONE}"),
)


def says_price(text: str) -> bool:
    """Return whether an amount of money or a percentage occurs in a text."""
    return "%" in text or _KINDS[0][1].search(text) is not None


@lru_cache(maxsize=1000)
def requested_facts(question: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern for each kind of fact that the question asks for and an answer must contain."""
    return tuple(fact for asks, fact in _KINDS if asks.search(question))


@lru_cache(maxsize=1000)
def expected_facts(question: str) -> tuple[re.Pattern[str], ...]:
    """Return these patterns and those of a person's name or of an address to write to or number to call, if
    one is asked for. An answer can do without these: who funds something may be a company."""
    others = (fact for asks, fact in (_WHO, _WHOM_TO_ASK) if asks.search(question))
    return (*requested_facts(question), *others)


def is_name(text: str) -> bool:
    """Return whether a text is the name of a person and nothing else."""
    return _WHO[1].fullmatch(text) is not None


def lacks_requested_fact(question: str, texts: str) -> bool:
    """Return whether the question asks for a kind of fact that does not occur in `texts`."""
    return any(not fact.search(texts) for fact in requested_facts(question))
