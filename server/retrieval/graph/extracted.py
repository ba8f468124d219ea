"""What is read out of a chunk: entities and how they relate; and how a model writes that down.

A record stands on a line of its own, its fields between bars:

    entity | name | type | description
    relation | name | name | description | keyword, keyword | strength 1-10

Small models manage this better than nested JSON, and a reply cut off in the middle loses one line only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_NAME = 120
LONGEST_DESCRIPTION = 1200
MOST_KEYWORDS = 8
NOTHING = "none"
"""What a model writes that finds nothing."""

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_BAR = re.compile(r"\s*(?:<?\|>?|\t)\s*")
_AROUND = "\"'`*“”„«»()[] \t"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DONE = re.compile(r"(?i)\W*(?:none|nothing|done|no more|complete)\b.{0,40}", re.S)


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that the text speaks of."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Two entities of which the text says something together."""

    source: str
    target: str
    description: str
    keywords: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk gives."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    def joined(self, more: Extraction) -> Extraction:
        """Both, without what is the same in both."""
        entities = dict.fromkeys((*self.entities, *more.entities))
        relations = dict.fromkeys((*self.relations, *more.relations))
        return Extraction(tuple(entities), tuple(relations))


def written(extraction: Extraction) -> str:
    """As a model writes it."""
    entities = [f"entity | {one.name} | {one.type} | {one.description}" for one in extraction.entities]
    relations = [
        f"relation | {one.source} | {one.target} | {one.description} | {', '.join(one.keywords)}"
        f" | {one.weight:g}"
        for one in extraction.relations
    ]
    return "\n".join([*entities, *relations]) or NOTHING


def read(reply: str) -> Extraction:
    """What `written` wrote, or a model in much the same form: other list marks, tabs, quotes, JSON.
    Raises ValueError for a reply that holds no record and does not say that there is none."""
    entities: list[Entity] = []
    relations: list[Relation] = []
    for fields in _records(reply):
        kind = fields[0].casefold()
        if kind.startswith("entit") and len(fields) >= 3:
            entities += _entity(fields[1:])
        elif kind.startswith("relation") and len(fields) >= 4:
            relations += _relation(fields[1:])
    if not entities and not relations and not _DONE.fullmatch(reply.strip() or "?"):
        raise ValueError("no record in the reply")
    named = {one.name for one in entities}
    ends = dict.fromkeys(end for one in relations for end in (one.source, one.target) if end not in named)
    return Extraction((*entities, *(Entity(end, "", "") for end in ends)), tuple(relations))


def cleaned(text: str, longest: int) -> str:
    """On one line, without quotes and brackets around it."""
    plain = " ".join(text.replace("|", " ").split()).strip(_AROUND)
    return plain if len(plain) <= longest else plain[: longest - 1].rstrip() + "…"


def rows(reply: str) -> Iterator[list[str]]:
    """The fields of each line that has several, whatever stands around them."""
    for line in reply.split("\n"):
        bare = _LIST_MARK.sub("", line).strip().strip("()`")
        fields = [field.strip(_AROUND) for field in _BAR.split(bare)]
        while fields and not fields[0]:
            fields = fields[1:]  # a bar at the start, as in a table
        if len(fields) > 2:
            yield fields


def _records(reply: str) -> Iterator[list[str]]:
    body = re.sub(r"(?m)^\s*```.*$", "", reply).strip()
    if body.startswith("{"):
        yield from _of_json(body)
    yield from rows(body)


def _of_json(body: str) -> Iterator[list[str]]:
    """From one object with lists, as some models prefer."""
    try:
        whole = json.loads(body)
    except ValueError:
        return
    if not isinstance(whole, dict):
        return
    for kind, order in (
        ("entities", ("name", "type", "description")),
        ("relations", ("source", "target", "description", "keywords", "weight")),
        ("relationships", ("source", "target", "description", "keywords", "weight")),
    ):
        listed = whole.get(kind)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict):
                yield [kind, *(_text(one.get(name, "")) for name in order)]


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")


def _entity(fields: list[str]) -> list[Entity]:
    name, kind = cleaned(fields[0], LONGEST_NAME), cleaned(fields[1], 40).casefold()
    description = cleaned(" ".join(fields[2:]), LONGEST_DESCRIPTION)
    return [Entity(name, kind, description)] if name and name.casefold() != "name" else []


def _relation(fields: list[str]) -> list[Relation]:
    source, target = cleaned(fields[0], LONGEST_NAME), cleaned(fields[1], LONGEST_NAME)
    if not source or not target or source.casefold() == target.casefold():
        return []
    rest = [*fields[2:], "", "", ""]
    words = [cleaned(word, 60) for word in re.split(r"[,;、，]", rest[1])]
    keywords = tuple(dict.fromkeys(word for word in words if word and not _NUMBER.fullmatch(word)))
    strength = next((found[0] for text in rest[1:] if (found := _NUMBER.fullmatch(text.strip()))), "1")
    weight = min(10.0, max(0.1, float(strength)))
    description = cleaned(rest[0], LONGEST_DESCRIPTION)
    return [Relation(source, target, description, keywords[:MOST_KEYWORDS], weight)]
