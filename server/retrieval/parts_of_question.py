"""The things that one question asks for: its sentences, the sides of a comparison, both ends of an "and"."""

from __future__ import annotations

import re

MOST = 3
LONGEST = 300
"""A longer text is not looked at: it tells a story, and patterns would take long over it."""
_SENTENCES = re.compile(r"(?<=[?？؟])\s*")
_COMPARED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:differences?|distinction|comparison|choose|choice|choosing|decide) (?:is )?(?:there )?between (?P<a>.+?) (?:and|or) (?P<b>.+)",
        r"\bcompare (?P<a>.+?) (?:and|with|to|against) (?P<b>.+)",
        r"(?P<a>[\w.+#-]+(?: [\w.+#-]+)?) (?:vs\.?|versus) (?P<b>.+)",
        r"\bhow (?:does|do|is|are) (?P<a>.+?) (?:differ(?:ent)? from|compare (?:to|with)) (?P<b>.+)",
        r"\bunterschied(?:e)? (?:besteht |gibt es |ist )?zwischen (?P<a>.+?) und (?P<b>.+)",
        r"\bdifférences? (?:y a-t-il )?entre (?P<a>.+?) et (?P<b>.+)",
        r"\bdiferencias? (?:hay )?entre (?P<a>.+?) [ye] (?P<b>.+)",
        r"\bdiferenças? (?:há )?entre (?P<a>.+?) e (?P<b>.+)",
        r"\b(?:разница|отличи[ея]|различи[ея]) между (?P<a>.+?) и (?P<b>.+)",
        r"\bчем (?P<a>.+?) отлича\w+ от (?P<b>.+)",
        r"(?P<a>[^，。？]+?)(?:和|与|跟|與)(?P<b>[^，。？]+?)(?:之间)?(?:的|有什么|有何|有啥)+(?:区别|區別|差别|不同|差異)",
        r"(?P<a>[^、。？]+?)と(?P<b>[^、。？]+?)(?:の違い|はどう違|の差|を比較|の使い分け)",
        r"(?P<a>[^,.?]+?)(?:와|과|랑|이랑|하고) (?P<b>[^,.?]+?)(?:의|은|는)? ?(?:차이|비교|어떻게 다른)",
        r"الفرق بين (?P<a>.+?) و(?P<b>.+)",
    )
)
_AND = re.compile(
    r"[,，、،;；]?\s+(?:and|und|et|y|e|и)\s+(?=(?:also |auch )?(?:how|what|where|when|why|which|who|can|does|do|is|are|wie|was|wo|wann"
    r"|warum|welche\w*|wer|kann|comment|où|quand|pourquoi|quel\w*|cómo|qué|dónde|cuándo|cuál\w*|como|onde|quando|qual|как|что|где|когда"
    r"|почему|какой|какая|какие)\b)|[，,、]\s*(?:以及|并且|还有|另外|那么)",
    re.I,
)
_ENDING = re.compile(r"[\s?？؟.。!,，、]+$")


def compares(text: str) -> bool:
    """Whether `text` asks how two things differ."""
    return len(text) <= LONGEST and any(pattern.search(text) for pattern in _COMPARED)


def parts_of(text: str) -> list[str]:
    """At most three questions or subjects that `text` asks for; [] when it asks for one thing."""
    sentences = [part.strip() for part in _SENTENCES.split(text) if len(part.strip()) > 8]
    if len(sentences) > 1:
        return sentences[:MOST]
    if len(text) > LONGEST:
        return []
    for pattern in _COMPARED:
        found = pattern.search(text)
        if found:
            return _sides(found["a"], found["b"])
    ends = [part.strip() for part in _AND.split(text) if len(part.strip()) > 8]
    return ends[:MOST] if len(ends) > 1 else []


def _sides(one: str, other: str) -> list[str]:
    sides = [_ENDING.sub("", side).strip() for side in (one, other)]
    return sides if all(sides) else []
