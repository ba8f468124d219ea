"""Questions for a price, a telephone number, an e-mail address: the answer must hold such a thing."""

from __future__ import annotations

import re

_PHONE = r"(?<![\w.])(?:\+|\(?0)[\d ()/.-]{6,}\d|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b|\b1?-?8\d\d-[\dA-Z-]{7,}"
_KINDS = (
    (
        re.compile(
            r"""\b(price|prices|pricing|fee|fees)\b
              | \bhow\ much\ (is|are|does|do|would|will)\b(?!.{0,40}\b(memory|space|disk|ram|time)\b)
              | \bcosts?\b.{0,40}\b(month|year|euros?|dollars?|money|per)\b
              | \b(kostet|kosten|preis\w*|prix|tarifs?|coûte\w*|precios?|cuesta\w*|cuánto\ vale)\b
              | \b(preços?|custa\w*|цена|цены|стоит|стоимость)\b
              | 价格|價格|多少钱|多少錢|费用|値段|いくら|料金
              | 가격|얼마예요|얼마인가요|요금|سعر|أسعار|تكلفة""",
            re.I | re.X,
        ),
        re.compile(
            r"[$€£¥₩₹₽]\s?\d|\d\s?(?:[$€£¥₩₹₽]|usd|eur|gbp|dollars?|euros?|元|円|원|руб)"
            r"|\b(?:free of charge|for free|kostenlos|gratis|gratuit)|免费|無料|무료|бесплатн",
            re.I,
        ),
    ),
    (
        re.compile(
            r"""\b(phone|telephone|hotline)\b.{0,25}\bnumber | \bhotline\b | \btelefonnummer
              | \b(number|what)\b.{0,30}\b(to|can\ i|do\ i|should\ i)\ call\b
              | \b(numéro\ de\ téléphone|número\ de\ tel[eé]fono|número\ de\ telefone) | номер\ телефона
              | 电话号码|電話番号|전화번호|رقم\ الهاتف""",
            re.I | re.X,
        ),
        re.compile(_PHONE),
    ),
    (
        re.compile(r"\be-?mail address\b|\bwhich (e-?mail|address)\b.{0,20}\b(write|send|contact)\b", re.I),
        re.compile(r"[\w.+-]+@[\w-]+\.\w"),
    ),
)


def lacks_what_is_asked_for(question: str, texts: str) -> bool:
    """Whether the question asks for a kind of fact of which `texts` hold none at all."""
    return any(asks.search(question) and not fact.search(texts) for asks, fact in _KINDS)
