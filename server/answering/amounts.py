"""Numbers with their units, in any of the usual writings, so that two writings of one amount are equal.

"1,600", "1.600" and "1 600" may be the same number; "20 MB" and "20 GB" are not the same amount.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import normalize

_UNITS = {
    "eur": "€ eur euro euros евро ユーロ 유로 欧元 يورو", "usd": "$ usd us$ dollar dollars dólar dólares dolar доллар долларов ドル 달러 美元 دولار",
    "gbp": "£ gbp pound pounds", "jpy": "¥ jpy yen 円 日元", "cny": "cny rmb yuan 元 人民币", "krw": "₩ krw won 원", "chf": "chf fr.",
    "rub": "₽ rub руб рублей рубля рубль", "inr": "₹ inr", "brl": "r$ brl reais",
    "percent": "% percent prozent pourcent % процентов процента パーセント 퍼센트 per-cent",
    "bit": "bit bits", "byte": "b byte bytes octets", "kb": "kb kib kbyte kbytes kilobyte kilobytes ko", "mb": "mb mib mbyte mbytes megabyte megabytes mo",
    "gb": "gb gib gbyte gbytes gigabyte gigabytes go", "tb": "tb tib terabyte terabytes to", "pb": "pb petabyte petabytes",
    "ms": "ms millisecond milliseconds millisekunden", "us": "µs us microsecond microseconds",
    "second": "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos секунд секунды 秒 초",
    "minute": "min mins minute minutes minuten minuto minutos минут минуты 分 分钟 分鐘 분",
    "hour": "h hr hrs hour hours stunde stunden heure heures hora horas час часа часов 小时 小時 時間 시간 ساعة ساعات",
    "day": "d day days tag tage tagen jour jours día días dia dias день дня дней 天 日 日間 일 يوم أيام",
    "week": "week weeks woche wochen semaine semaines semana semanas неделя недели недель 周 週間 주",
    "month": "month months monat monate monaten mois mes meses mês месяц месяца месяцев 个月 個月 か月 ヶ月 개월",
    "year": "year years jahr jahre jahren an ans année années año años ano anos год года лет 年 年間 년",
    "mm": "mm millimeter millimeters millimetres", "cm": "cm centimeter centimeters centimetres", "m": "m meter meters metre metres метров",
    "km": "km kilometer kilometers kilometre kilometres kilómetros", "g": "g gram grams gramm", "kg": "kg kilo kilos kilogram kilograms kilogramm",
    "l": "l liter liters litre litres", "w": "w watt watts", "kw": "kw", "v": "v volt volts", "hz": "hz", "mhz": "mhz", "ghz": "ghz",
    "celsius": "°c ℃", "fahrenheit": "°f ℉", "mile": "mile miles", "inch": "inch inches zoll",
}  # fmt: skip
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_WORDS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro - deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "cero - dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "pt": "zero - dois três quatro cinco seis sete oito nove dez onze doze",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
}
_NUMBER_WORDS = {
    word: float(value) for words in _WORDS.values() for value, word in enumerate(words.split()) if word != "-"
}
"""Words that mean one number in every language that has them: "one" itself is left to the lexical check."""
_NUMBER_WORDS.pop("one")
_BEFORE = r"(?P<before>US\$|R\$|[$€£¥₩₽₹]|\b(?:EUR|USD|GBP|CHF)\b)?\s?"
_NUMBER = re.compile(
    rf"{_BEFORE}(?<![\w.,])(?P<number>\d{{1,3}}(?:[ \u00a0\u202f',.]\d{{3}})+(?:[.,]\d{{1,2}})?|\d+(?:[.,]\d+)?)(?![.,]?\d)"
    r"(?:[\s\u00a0\u202f-]?(?P<after>per-?\ ?cent|us\$|[%€£¥₩₽₹$℃℉]|°[cf]|[^\W\d_]+))?",
    re.I | re.X,
)
_WORD = re.compile(r"[^\W\d_]+")
_SPANS = re.compile(r"(?<=\d)\s?[–—-]\s?(?=\d)")
_ADJECTIVES = re.compile(
    r"\s+(?:working|business|calendar|full|more|further|arbeits|jours|ouvrables|hábiles|úteis)\s+"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as written, with every value that the writing may have."""

    shown: str
    values: frozenset[float]
    unit: str
    """"" when none of the known ones follows."""

    def equals(self, other: Amount) -> bool:
        """The same value; the same unit too, unless one of them has none."""
        same = not self.unit or self.unit == other.unit
        return same and bool(self.values & other.values)

    def contradicts(self, other: Amount) -> bool:
        """Another value of the same unit."""
        return bool(self.unit) and self.unit == other.unit and not self.values & other.values


def amounts(text: str) -> list[Amount]:
    """In order; numbers written as words ("two weeks") count where the word means nothing else."""
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
    """ "2 to 3 days": a unit is often written once for two numbers; the first then may have it too."""
    return [
        Amount(one.shown, one.values, found[at + 1].unit)
        if not one.unit and at + 1 < len(found) and re.search(r"\d\s(to|bis|à|a|до|–|and|or|und|oder)$", one.shown)
        else one
        for at, one in enumerate(found)
    ]  # fmt: skip


def _unit(word: str | None) -> str:
    return _UNIT_OF.get((word or "").lower(), "")


def _values(number: str) -> frozenset[float]:
    """1.600 is 1600 or 1.6; 1,600.50 is one number only."""
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
