"""Parses numbers with units in all usual notations, so that two notations of one amount are equal.

"1,600", "1.600" and "1 600" may be the same number; "20 MB" and "20 GB" are not the same amount.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import normalize

from server.languages.loader import alternatives, compiled, languages

SYMBOLS = {
    "eur": "€ eur", "usd": "$ usd us$", "gbp": "£ gbp", "jpy": "¥ jpy", "cny": "cny rmb",
    "krw": "₩ krw", "chf": "chf fr.", "rub": "₽ rub", "inr": "₹ inr", "brl": "r$ brl", "percent": "%",
    "bit": "bit", "byte": "b", "kb": "kb kib", "mb": "mb mib", "gb": "gb gib", "tb": "tb tib",
    "pb": "pb", "ms": "ms", "us": "µs us", "second": "s", "minute": "min", "hour": "h", "day": "d",
    "mm": "mm", "cm": "cm", "m": "m", "km": "km", "g": "g", "kg": "kg", "l": "l", "w": "w", "kw": "kw",
    "v": "v", "hz": "hz", "mhz": "mhz", "ghz": "ghz", "celsius": "°c ℃", "fahrenheit": "°f ℉",
}  # fmt: skip
"""Unit symbols that are the same in every language; words for units are in the language files."""
_UNIT_OF = {
    word: unit
    for words in (
        {unit: tuple(symbols.split()) for unit, symbols in SYMBOLS.items()},
        *(one.amounts.units for one in languages().values()),
    )
    for unit, written in words.items()
    for word in written
}
_NUMBER_WORDS = {
    word: float(value)
    for one in languages().values()
    for value, word in enumerate(one.amounts.numbers)
    if word != "-"
}
"""Number words that mean the same number in every language. "one" is left to the lexical check."""
_BEFORE = r"(?P<before>US\$|R\$|[$€£¥₩₽₹]|\b(?:EUR|USD|GBP|CHF)\b)?\s?"
_NUMBER = re.compile(
    rf"{_BEFORE}(?<![\w.,])"
    r"(?P<number>\d{1,3}(?:[ \u00a0\u202f',.]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?![.,]?\d)"
    r"(?:[\s\u00a0\u202f-]?(?P<after>per-?\ ?cent|us\$|[%€£¥₩₽₹$℃℉]|°[cf]|[^\W\d_]+))?",
    re.I | re.X,
)
_WORD = re.compile(r"[^\W\d_]+")
_SPANS = re.compile(r"(?<=\d)\s?[–—-]\s?(?=\d)")
_ADJECTIVES = compiled(rf"\s+(?:{alternatives(lambda one: one.amounts.adjectives)})\s+", re.NOFLAG)
_RANGE = compiled(rf"\d\s({alternatives(lambda one: one.amounts.between)}|–)$", re.NOFLAG)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as written, with every value that it may mean."""

    shown: str
    values: frozenset[float]
    unit: str
    """Empty without a known unit."""

    def equals(self, other: Amount) -> bool:
        """Return whether the values are equal, and the units if this amount has one."""
        same = not self.unit or self.unit == other.unit
        return same and bool(self.values & other.values)

    def contradicts(self, other: Amount) -> bool:
        """Return whether the unit is the same and the value differs."""
        return bool(self.unit) and self.unit == other.unit and not self.values & other.values


def amounts(text: str) -> list[Amount]:
    """Return the amounts in a text, then those written as words ("two weeks") if the word is unambiguous."""
    text = _ADJECTIVES.sub(" ", _SPANS.sub(" – ", normalize("NFKC", text)))
    found = []
    for match in _NUMBER.finditer(text):
        unit = _unit(match["before"]) or _unit(match["after"])
        found.append(Amount(match.group().strip(), _values(match["number"]), unit))
    previous = ""
    for word in _WORD.findall(text.lower()):
        if previous in _NUMBER_WORDS:
            value = _NUMBER_WORDS[previous]
            found.append(Amount(f"{previous} {word}", frozenset({value}), _unit(word)))
        previous = word
    if previous in _NUMBER_WORDS:
        found.append(Amount(previous, frozenset({_NUMBER_WORDS[previous]}), ""))
    return _carried(found)


def _carried(found: list[Amount]) -> list[Amount]:
    """Copy the unit of a range to its first number: "2 to 3 days" contains 2 days."""
    return [
        Amount(one.shown, one.values, found[at + 1].unit)
        if not one.unit and at + 1 < len(found) and _RANGE.search(one.shown)
        else one
        for at, one in enumerate(found)
    ]  # fmt: skip


def _unit(word: str | None) -> str:
    return _UNIT_OF.get((word or "").lower(), "")


def _values(number: str) -> frozenset[float]:
    """Return every value that a number may mean: 1.600 is 1600 or 1.6; 1,600.50 has one value."""
    plain = re.sub(r"[ \u00a0\u202f']", "", number)
    readings = {plain.replace(",", "")}
    if re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d+)?", plain):
        readings.add(plain.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d+,\d+", plain):
        readings.add(plain.replace(",", "."))
        if not re.fullmatch(r"\d{1,3},\d{3}", plain):
            readings.discard(plain.replace(",", ""))
    values = set()
    for reading in readings:
        try:
            values.add(float(reading))
        except ValueError:
            continue  # two full stops: a version, which is compared as written
    return frozenset(values)
