"""Things that visitors ask for by name, such as parking or a visa: a section that does not mention one says
nothing about it, however near it is in meaning.

They are concepts of the glossary (`words.tsv`), so that a visitor's word is found in the words of the page's
language.
"""

from collections.abc import Sequence
from functools import lru_cache

from server.answering.understanding.glossary import languages, look_up, words
from server.domain.chunk import Chunk
from server.domain.question import Query

_PRICES = ("discount", "concession", "price", "free", "cheap")
_STREAMED = ("online", "remote", "recording")
_MEALS = ("vegetarian", "allergy", "food", "lunch")
THINGS: dict[str, tuple[str, ...]] = {
    "airport": ("flight", "shuttle"),
    "alcohol": ("coffee",),
    "allergy": _MEALS,
    "bicycle": (),
    "car_park": ("parking",),
    "certificate": (),
    "childcare": ("child", "baby"),
    "concession": _PRICES,
    "degree": (),
    "discount": _PRICES,
    "dog": ("animal",),
    "dress_code": ("clothes", "wear"),
    "fax": (),
    "gift_card": (),
    "hotel": ("accommodation",),
    "insurance": (),
    "internship": (),
    "invoice": ("payment",),
    "lift": ("disability", "floor", "entrance"),
    "livestream": _STREAMED,
    "lost_property": ("lose",),
    "luggage": (),
    "parking": ("car_park",),
    "password": ("login",),
    "pharmacy": (),
    "refund": ("cancel", "return"),
    "salary": ("payment", "money"),
    "shuttle": ("bus",),
    "sign_language": ("subtitles",),
    "smoking": (),
    "subtitles": ("sign_language",),
    "swimming_pool": (),
    "tax_credit": (),
    "tax_number": (),
    "toilet": (),
    "unsubscribe": ("cancel",),
    "vegetarian": _MEALS,
    "visa": ("invite",),
    "waiting_list": ("wait",),
    "warranty": (),
    "wash": ("clean",),
    "wireless": ("internet",),
}
"""Concept of each thing -> concepts with which a page may answer a question for it in other words."""


def asked_things(query: Query) -> list[frozenset[str]]:
    """Return the concepts of each thing that a question asks for, any of which an answer must mention."""
    return _asked(query.text, query.language)


@lru_cache(maxsize=1000)
def _asked(text: str, language: str) -> list[frozenset[str]]:
    asked = []
    for found in look_up(text, language):
        things = [concept for concept in found.concepts if concept in THINGS]
        meant = frozenset(things).union(*(THINGS[thing] for thing in things))
        said = text[found.start : found.end].lower()
        is_one = any(said in map(str.lower, words(thing, language)) for thing in things)
        if is_one or (things and meant.issuperset(found.concepts)):  # "recibir" is no receipt ("recibo")
            asked.append(meant)
    return asked


def lacks_thing(query: Query, chunks: Sequence[Chunk]) -> bool:
    """Return whether the question asks for a thing that none of the chunks mentions. False for chunks in a
    language without a glossary, whose words are unknown."""
    things = asked_things(query)
    if not things or not all(chunk.language in languages() for chunk in chunks):
        return False
    mentioned = frozenset[str]().union(*map(_mentioned, chunks))
    return any(mentioned.isdisjoint(thing) for thing in things)


@lru_cache(maxsize=1000)
def _mentioned(chunk: Chunk) -> frozenset[str]:
    text = f"{chunk.heading}\n{chunk.text}"
    return frozenset(concept for found in look_up(text, chunk.language) for concept in found.concepts)
