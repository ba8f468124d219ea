"""Reads facts in the indexed text of a page: labelled lines, tables and lists below telling headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from server.answering.understanding.fact_questions import card_pattern
from server.answering.verifying.dates import dates
from server.answering.writing.units import Unit, UnitKind, units
from server.domain.chunk import Chunk
from server.domain.site_fact import FactKind
from server.languages.loader import alternatives, compiled, every_word

LONGEST_QUOTE = 300
EMAIL = re.compile(r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}", re.I)
PHONE = re.compile(r"(?<![\w.,/-])(?:\+|00)?\(?\d[\d ()./\u00a0\u202f-]{5,18}\d(?![\w-])")
_DAY_NAMES = sorted(every_word(lambda one: one.card.days), key=len, reverse=True)
# A name of one character may be any word.
_SHORT_DAY = "|".join(re.escape(day) for day in _DAY_NAMES if len(day) == 2 and day.isascii())
_DAY = "|".join(re.escape(day) for day in _DAY_NAMES if len(day) > 2 or (len(day) > 1 and not day.isascii()))
# German "So" and "Do" are words of other languages too: only in front of another day, a time or a sign.
_DAYS = compiled(
    rf"^(?:{_SHORT_DAY})\b|(?<!\w)(?:(?:{_DAY})(?:\b|\.|(?=[\u3040-\uffff]))"
    rf"|(?:{_SHORT_DAY})(?=\.?\s?[-–—/&+:,|\t]|\.?\s+(?:\d|(?:a|and|au|bis|e|et|i|to|u\.?|und|y)\s)))"
)
_TIME = re.compile(
    r"(?<![\d.])\d{1,2}[:.h]\d\d(?!\.?\d)"
    r"|\b\d{1,2} ?(?:[ap]\.?m\b|uhr\b|h\b|時|点|點|시)|\b\d{1,2} ?[-–—] ?\d{1,2}\b",
    re.I,
)
_CODES = "EUR|USD|GBP|CHF"
_WORDS_FOR_MONEY = alternatives(lambda one: one.facts.currency)
_MONEY = compiled(
    rf"(?:US\$|R\$|[€$£¥₩₽₹]|\b(?:{_CODES})\b)\s?\d[\d.,'\u00a0]*"
    rf"|\d[\d.,'\u00a0]*\s?(?:[€£¥₩₽₹$]|(?:{_CODES}|{_WORDS_FOR_MONEY})(?![^\W_]))"
)
_POSTAL = re.compile(
    r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"  # United Kingdom
    r"|\b(?:\d{5}|\d{3} \d{2}) [A-Z][^\W\d]{2,}|(?:^|, )\d{4} [A-Z][^\W\d]{2,}"  # most of Europe
    r"|, ?[A-Z]{2},? \d{5}\b|\b\d{5}-\d{3}\b|〒 ?\d{3}-\d{4}"  # United States, Brazil, Japan
    r"|[\u4e00-\u9fff][路街道]\d+号|\b\d{6}, г|[\uac00-\ud7a3](?:로|길) ?\d+"
)
_LABELLED = re.compile(r"(?P<label>[^:\d]{2,60}?)\s*(?::|\s[–—-])\s*(?P<value>.{1,60})")
_BEFORE_MONEY = 8
"""The most characters between a label and its price: "from "."""
_MOST_LINES = 20
_NEAR_LABEL = 30
"""The most characters between the label of a telephone number and the number."""
_SHORTEST_ADDRESS, _MOST_ABOVE = 12, 3
_LONGEST_LABEL, _LONGEST_ADDRESS, _LONGEST_VALUE = 80, 200, 120


REACHED = (FactKind.PHONE, FactKind.EMAIL)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact on one page."""

    kind: FactKind
    label: str
    value: str
    quote: str = ""
    """Verbatim text of the chunk that says it, with tabs and line ends, without list markers."""
    url: str = ""
    language: str = ""
    near: int = 0
    """How much the page is about the site itself: 3 for its contact page, 2 for the start page, 1 for its
    legal notice and "About us", 0 for others."""
    named: bool = True
    """Whether the label names something in particular."""

    @property
    def key(self) -> str:
        """The same for a fact that is written in several ways or found on several pages."""
        if self.kind is FactKind.PHONE:
            return re.sub(r"\D", "", self.value)[-9:]
        label = "" if self.kind in (*REACHED, FactKind.ADDRESS, FactKind.SOCIAL) else self.label
        return f"{label}\n{self.value}".casefold()


def read_facts(chunk: Chunk) -> Iterator[FoundFact]:
    """Yield the facts that a chunk says in its language."""
    found = [unit for unit in units(chunk.text) if unit.kind is not UnitKind.CODE]
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    yield from _hours(found, heading, chunk.language)
    has_money, has_digit = bool(_MONEY.search(chunk.text)), any(char.isdigit() for char in chunk.text)
    for place, unit in enumerate(found):
        if len(unit.text) > LONGEST_QUOTE:
            continue
        if _DAYS.search(unit.text) and _TIME.search(unit.text) and any(phones_in(unit.text)):
            yield FoundFact(FactKind.HOURS, heading, _folded(unit.text), unit.text)
        if "@" in unit.text:
            for match in EMAIL.finditer(unit.text):
                yield FoundFact(FactKind.EMAIL, heading, match.group(), unit.text)
        if has_digit:
            yield from _labelled(unit, heading, chunk.language)
            yield from _deadlines(unit, heading, chunk.language)
        if has_money:
            yield from _prices(unit, _head(found, place), heading)


def phones_in(text: str) -> Iterator[str]:
    """Yield the telephone numbers, and what may be one, as they are written."""
    for match in PHONE.finditer(text):
        if 7 <= sum(map(str.isdigit, match.group())) <= 15:
            yield match.group().strip()


def postal_facts(chunk: Chunk) -> Iterator[FoundFact]:
    """Yield the postal addresses of a chunk without a label, each with the short lines above it."""
    found = units(chunk.text)
    for place, unit in enumerate(found):
        if not _POSTAL.search(unit.text) or len(unit.text) > _LONGEST_ADDRESS or "©" in unit.text:
            continue
        undated = unit.text
        for written, _ in dates(unit.text):  # "December 20, 2023 More" looks like a town with its code
            undated = undated.replace(written, "")
        if not _POSTAL.search(undated):
            continue
        first = place
        while place - first < _MOST_ABOVE and first and _is_address_line(found[first - 1], unit):
            first -= 1
        lines = [one.text for one in found[first : place + 1]]
        if sum(map(len, lines)) >= _SHORTEST_ADDRESS:
            heading = chunk.heading_path[-1] if chunk.heading_path else ""
            value = ", ".join(_folded(line).strip(" ,") for line in lines)
            yield FoundFact(FactKind.ADDRESS, heading, value, "\n".join(lines))


def _is_address_line(line: Unit, last: Unit) -> bool:
    short = len(line.text) <= 60 and not line.text.rstrip().endswith((".", ":", "?", "!"))
    return line.block == last.block and short and "@" not in line.text and not any(phones_in(line.text))


def _labelled(unit: Unit, heading: str, language: str) -> Iterator[FoundFact]:
    """Yield telephone numbers and addresses behind their label: "Phone: 020 7946 0000"."""
    text = unit.text
    label = card_pattern(language, "phone").search(text[:_LONGEST_LABEL])
    if label and len(text) <= _LONGEST_VALUE:
        behind = text[label.end() :]
        for number in list(phones_in(behind))[:1]:
            if behind.index(number) < _NEAR_LABEL:
                yield FoundFact(FactKind.PHONE, heading, number, text)
    label = card_pattern(language, "address").match(text)
    value = re.sub(r"^\s*[:\t：–-]\s*", "", text[label.end() :]) if label else ""
    fits = _SHORTEST_ADDRESS <= len(value) <= _LONGEST_ADDRESS
    if label and value != text[label.end() :] and fits and _POSTAL.search(value):
        yield FoundFact(FactKind.ADDRESS, heading, _folded(value), text)


def _hours(found: Sequence[Unit], heading: str, language: str) -> Iterator[FoundFact]:
    """Yield the opening hours of a chunk: lines with days and times below words that announce them."""
    named, closed = card_pattern(language, "hours"), card_pattern(language, "closed")
    at = 0
    while at < len(found):
        if not _is_span(found[at], closed):
            at += 1
            continue
        end = at
        while end < len(found) and end - at < _MOST_LINES and _is_span(found[end], closed):
            end += 1
        before = found[at - 1].text if at else ""
        announced = named.search(heading) or named.search(before) or named.search(found[at].text)
        lines = [unit.text for unit in found[at:end]]
        if announced and all(len(line) <= LONGEST_QUOTE for line in lines) and len("".join(lines)) <= 900:
            label = heading if named.search(heading) else announced.group()
            yield FoundFact(FactKind.HOURS, label, "; ".join(map(_folded, lines)), "\n".join(lines))
        at = end


def _is_span(unit: Unit, closed: re.Pattern[str]) -> bool:
    return bool(_DAYS.search(unit.text) and (_TIME.search(unit.text) or closed.search(unit.text)))


def _head(found: Sequence[Unit], place: int) -> tuple[str, ...]:
    """Return the first row of the table that a row is in; () for other units and the first row itself."""
    if found[place].kind is not UnitKind.ROW:
        return ()
    first = next(unit for unit in found if unit.block == found[place].block)
    return () if first is found[place] or _MONEY.search(first.text) else tuple(first.text.split("\t"))


def _prices(unit: Unit, head: Sequence[str], heading: str) -> Iterator[FoundFact]:
    """Yield what a row of a table or a labelled line says that something costs."""
    if unit.kind is UnitKind.ROW:
        cells = [_folded(cell) for cell in unit.text.split("\t")]
        priced = [
            (place, cell) for place, cell in enumerate(cells) if len(cell) <= 40 and _MONEY.search(cell)
        ]
        if not priced or not priced[0][0] or not 1 < len(cells[0]) <= _LONGEST_LABEL:
            return
        values = []
        for place, cell in priced:
            behind = cells[place + 1] if place + 1 < len(cells) else ""
            period = behind if behind and len(behind) <= 20 and not any(map(str.isdigit, behind)) else ""
            name = head[place] if len(priced) > 1 and place < len(head) else ""
            values.append(f"{name}: {cell}" if name else f"{cell} {period}".strip())
        yield FoundFact(FactKind.PRICE, _joined(heading, cells[0]), "; ".join(values), unit.text)
        return
    match = _LABELLED.fullmatch(unit.text)
    money = _MONEY.search(match["value"]) if match else None
    if match and money and money.start() <= _BEFORE_MONEY:
        yield FoundFact(FactKind.PRICE, _joined(heading, match["label"]), match["value"], unit.text)


def _deadlines(unit: Unit, heading: str, language: str) -> Iterator[FoundFact]:
    """Yield the dates that a label, a heading or a sentence calls a deadline."""
    named = card_pattern(language, "deadline")
    if unit.kind is UnitKind.ROW:
        cells = [_folded(cell) for cell in unit.text.split("\t") if cell.strip()]
        dated = [cell for cell in cells if dates(cell) and len(cell) <= _LONGEST_LABEL]
        others = " ".join(cell for cell in cells if cell not in dated)
        if dated and (named.search(others) or named.search(heading)) and others:
            yield FoundFact(FactKind.DEADLINE, _joined(heading, others[:_LONGEST_VALUE]), dated[0], unit.text)
        return
    label, *rest = re.split(r":\s|：", unit.text, maxsplit=1)
    separator, value = bool(rest), rest[0] if rest else ""
    announced = named.search(label) or (unit.kind is UnitKind.ITEM and named.search(heading))
    if separator and announced and len(label) <= _LONGEST_LABEL and any(map(str.isdigit, value)):
        if len(value) <= _LONGEST_VALUE:
            yield FoundFact(FactKind.DEADLINE, _joined(heading, label), _folded(value), unit.text)
        return
    there = dates(unit.text)
    if not there or not (named.search(unit.text) or named.search(heading)):
        return
    if separator and len(label) <= _LONGEST_LABEL and dates(value) and len(value) <= _LONGEST_VALUE:
        yield FoundFact(FactKind.DEADLINE, _joined(heading, label), _folded(value), unit.text)
    elif named.search(unit.text) and len(there) == 1:
        yield FoundFact(FactKind.DEADLINE, heading, there[0][0], unit.text)


def with_title(fact: FoundFact, title: str) -> FoundFact:
    """Return the fact with the page's title before its label, where the label does not say it."""
    return (
        fact if title.casefold() in fact.label.casefold() else replace(fact, label=_joined(title, fact.label))
    )


def _joined(heading: str, label: str) -> str:
    label = _folded(label).strip(" :")
    return label if not heading or heading.casefold() in label.casefold() else f"{heading}: {label}"


def _folded(text: str) -> str:
    return " ".join(text.replace("\t", " ").split())
