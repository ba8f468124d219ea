"""Checks that an answer's literals are on the page: amounts, dates, addresses, phone numbers, code, names and
quoted labels. Notations that mean the same are equal."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from unicodedata import normalize

from server.answering.verifying.amounts import Amount, amounts
from server.answering.verifying.dates import Date, dates, meet, without_dates
from server.languages.loader import alternatives, compiled

_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`，。]+|www\.[\w-]+\.[\w./-]+")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_CODE = re.compile(r"```[^\n]*\n(.+?)\n?```|`([^`]+)`", re.S)
_OPTION = re.compile(r"(?<!\w)--?[a-zA-Z][\w-]*(?==|\b)")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)?\(?\d[\d\s()/.\u2010-\u2013-]{5,}\d(?!\w)")
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=[\w.\-/:]*\d)(?:\w*[^\W\d]\w*\d[\w.-]*\w|\w*\d\w*[^\W\d_][\w.-]*|\d+(?:\.\d+){2,}[\w.-]*|\d+(?:[:/]\d+)+)"
)
_ORDINAL = compiled(rf"\d+(?:{alternatives(lambda one: one.dates.ordinals)}|e|ª|\.)?")
_LABEL = re.compile(r"[\"“„«「『‹]([^\"“”„«»「」『』‹›\n]{2,60})[\"”“»」』›]")
_JOINING = alternatives(lambda one: one.names.joining_in_claims)
_NAME = compiled(
    rf"(?<![^\W_])(?:[A-Z][\w&'’.-]*[\w])(?: (?:(?:{_JOINING}|&) )?[A-Z][\w&'’-]*\w)+", re.NOFLAG
)
_MIN_PHONE = 7


class CitedText:
    """Literals of the cited text. `text` is everything that may be cited; its parts are checked elsewhere."""

    def __init__(self, text: str) -> None:
        self.text = fold(text)
        self._digits = re.sub(r"\D", "", normalize("NFKC", text))
        self._exact = " ".join(normalize("NFKC", text).split())

    @cached_property
    def _amounts(self) -> list[Amount]:
        return amounts(self._exact)

    @cached_property
    def _dates(self) -> frozenset[Date]:
        return frozenset(day for _, readings in dates(self._exact) for day in readings)

    def missing(self, claim: str, *, same_language: bool) -> str:
        """Return the first literal of `claim` that is not in the text; "" when all are."""
        return next(self._all_missing(normalize("NFKC", claim), same_language), "")

    def _all_missing(self, claim: str, same_language: bool) -> Iterator[str]:
        rest = claim
        for code in _CODE.finditer(claim):
            rest = rest.replace(code.group(), " ")
            inner = " ".join((code[1] or code[2] or "").split())
            if inner not in self._exact:
                yield inner
        for pattern in (_ADDRESS, _EMAIL, _OPTION):
            for found in pattern.findall(rest):
                shown = found.rstrip(".,:/")
                if not contains_literal(fold(shown), self.text):
                    yield shown
            rest = pattern.sub(" ", rest)
        yield from self._missing_numbers(rest)
        if same_language:
            yield from self._missing_words(rest)

    def _missing_numbers(self, rest: str) -> Iterator[str]:
        for shown, readings in dates(rest):
            if not meet(readings, self._dates):
                yield shown
        rest = without_dates(rest)
        for phone in filter(_is_phone_number, _PHONE.findall(rest)):
            digits = re.sub(r"\D", "", phone)
            if digits not in self._digits and digits.lstrip("0") not in self._digits:
                yield phone.strip()
            rest = rest.replace(phone, " ")
        for shown in _IDENTIFIER.findall(rest):
            whole = shown.rstrip(".-/:")
            known = amounts(whole)
            if (known and known[0].unit) or _ORDINAL.fullmatch(whole):
                continue
            if not contains_literal(fold(whole), self.text):
                yield whole
            rest = rest.replace(shown, " ")
        for amount in amounts(rest):
            if not any(amount.equals(other) for other in self._amounts) and not self._counted(amount):
                yield amount.shown

    def _counted(self, amount: Amount) -> bool:
        """Return whether a number without a unit is part of an identifier on the page, like 8 in UTF-8."""
        return not amount.unit and contains_literal(fold(amount.shown.split()[0]), self.text)

    def _missing_words(self, rest: str) -> Iterator[str]:
        for label in _LABEL.findall(rest):
            if fold(label.strip(" .,!?")) not in self.text:
                yield label
        for match in _NAME.finditer(rest):
            words = match.group().split()
            if _begins_sentence(rest, match.start()):
                words = words[1:]
            absent = [word for word in words if word[0].isupper() and not self._knows(word)]
            if len(words) > 1 and absent:
                yield match.group()

    def _knows(self, word: str) -> bool:
        bare = fold(word).removesuffix("'s").removesuffix("’s")
        return bare in self.text or (len(bare) > 4 and bare[:-1] in self.text)


def fold(text: str) -> str:
    """Fold case and white space, and remove soft hyphens and zero-width characters."""
    text = re.sub(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "", normalize("NFKC", text))
    return re.sub(r"\s+", " ", text).casefold()


def contains_literal(literal: str, text: str) -> bool:
    """Return whether `text` contains the whole literal: 2 is not in 20 or 2.50."""
    if not literal:
        return True
    start, end = r"(?<![^\W_])(?<!\d[.,])", r"(?![^\W_])(?![.,]\d)"
    start, end = (start if literal[0].isalnum() else ""), (end if literal[-1].isalnum() else "")
    return re.search(f"{start}{re.escape(literal)}{end}", text) is not None


def conflicting(claim: Sequence[Amount], proof: Sequence[Amount]) -> str:
    """Return an amount of the claim for which the proof has another value in the same unit, or ""."""
    for amount in claim:
        if any(amount.equals(other) for other in proof):
            continue
        unclaimed = [other for other in proof if not any(own.equals(other) for own in claim)]
        if any(amount.contradicts(other) for other in unclaimed):
            return amount.shown
    return ""


def _is_phone_number(number: str) -> bool:
    """Return whether it is a phone number rather than an amount such as "1 600 000"."""
    return len(re.sub(r"\D", "", number)) >= _MIN_PHONE and len(amounts(number)) != 1


def _begins_sentence(text: str, start: int) -> bool:
    return not text[:start].strip() or text[:start].rstrip()[-1] in ".!?:\n-*"
