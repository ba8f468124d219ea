"""Things that visitors ask for by name, such as parking or a visa: a section that does not mention one says
nothing about it, however near it is in meaning.

They are concepts of the glossary (`words.tsv`), so that a visitor's word is found in the words of the page's
language.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from server.answering.answer_kinds import says_price
from server.answering.understanding.glossary import look_up
from server.domain.chunk import Chunk
from server.domain.question import Query

_PRICES = ("discount", "concession", "gift_card", "price", "free", "cheap")
_STREAMED = ("streamed", "online", "remote", "recording")
_MEALS = ("vegetarian", "allergy", "food", "lunch")
THINGS: dict[str, tuple[str, ...]] = {
    "airport": ("flight", "shuttle"),
    "alcohol": ("coffee",),
    "allergy": _MEALS,
    "bicycle": (),
    "car_park": ("parking",),
    "certificate": ("diploma",),
    "childcare": ("child", "baby"),
    "concession": _PRICES,
    "diploma": ("certificate",),
    "discount": _PRICES,
    "dog": ("animal",),
    "dress_code": ("clothes", "wear"),
    "fax": (),
    "gift_card": ("discount",),
    "hotel": ("accommodation",),
    "insurance": (),
    "internship": (),
    "invoice": ("payment",),
    "livestream": _STREAMED,
    "luggage": ("bag",),
    "parking": ("car_park",),
    "refund": ("cancel", "return"),
    "salary": ("payment", "money", "price"),
    "shuttle": ("bus",),
    "sign_language": ("subtitles",),
    "smoking": (),
    "subtitles": ("sign_language",),
    "swimming_pool": (),
    "tax_credit": (),
    "tax_number": (),
    "unsubscribe": ("cancel",),
    "vegetarian": _MEALS,
    "visa": ("invite", "payment", "credit_card"),
    "waiting_list": ("wait",),
    "warranty": (),
    "wireless": ("internet",),
}
"""Concept of each thing -> concepts with which a page may answer a question for it in other words."""


_WITHIN = re.compile(
    "\\d(?=[\uac00-\ud7af])|(?<![\\d\uac00-\ud7af])[\uac00-\ud7af](?=[\uac00-\ud7af])"
    "|[\u30a1-\u30fa\u30fc](?=[\u30a1-\u30fa\u30fc])"
)
"""What stands before a part of a Korean or Japanese word that is no word by itself: a number, a single Korean
letter, or any Japanese one. Behind more Korean letters there may be one: "무료주차" is free parking."""


def asked_things(query: Query) -> Sequence[frozenset[str]]:
    """Return the concepts of each thing that a question asks for, any of which an answer must mention."""
    return _asked(query.text, query.language)


@lru_cache(maxsize=1000)
def _asked(text: str, language: str) -> tuple[frozenset[str], ...]:
    asked = []
    for found in look_up(text, language):
        things = [concept for concept in found.concepts if concept in THINGS]
        meant = frozenset(things).union(*(THINGS[thing] for thing in things))
        is_whole = not (found.start and _WITHIN.match(text, found.start - 1))
        # "recibir" may be to receive, or a receipt, and "소비자" is a consumer, although "비자" is a visa.
        if things and is_whole and meant.issuperset(found.concepts):
            asked.append(meant)
    return tuple(asked)


def lacks_thing(query: Query, chunks: Sequence[Chunk]) -> bool:
    """Return whether the question names things and the chunks mention none of them. False for chunks in
    another language, of which the words for a thing are less sure."""
    things = asked_things(query)
    if not things or not chunks or any(chunk.language != query.language for chunk in chunks):
        return False
    mentioned = frozenset[str]().union(*map(_mentioned, chunks))
    return all(mentioned.isdisjoint(thing) for thing in things)


@lru_cache(maxsize=1000)
def _mentioned(chunk: Chunk) -> frozenset[str]:
    text = f"{chunk.heading}\n{chunk.text}"
    found = frozenset(concept for found in look_up(text, chunk.language) for concept in found.concepts)
    return found | {"price"} if says_price(text) else found
