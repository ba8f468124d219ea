"""JSON-LD as pages write it: several scripts, lists, graphs, and sometimes broken JSON."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from lxml.etree import _Element

from crawler.extractors.text import plain_text

Node = dict[str, Any]

_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$")
_LAST_COMMA = re.compile(r",\s*(?=[\]}])")
_HOLDERS = (
    "@graph",
    "mainEntity",
    "mainEntityOfPage",
    "hasPart",
    "hasVariant",
    "itemListElement",
    "breadcrumb",
)
_DEEPEST = 6
_MOST_NODES = 500
_LONGEST_TEXT = 50_000


def nodes(root: _Element) -> Iterator[Node]:
    """All things that the page describes itself, outer ones first; not what they are like or related to."""
    left = [_MOST_NODES]
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower().startswith("application/ld+json"):
            yield from _below(_parsed(plain_text(script)), left, 0)


def types_of(node: Node) -> frozenset[str]:
    """Names of the node's types without the vocabulary's address."""
    return frozenset(text_of(name).rpartition("/")[2] for name in listed(node.get("@type")))


def listed(value: Any) -> list[Any]:
    """Every property may hold one value or many."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def text_of(value: Any) -> str:
    """A value as text: of a thing its name, of several the first."""
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return text_of(value.get("name") or value.get("@value") or value.get("@id") if len(value) else "")
    return ""


def _below(value: Any, left: list[int], depth: int) -> Iterator[Node]:
    if depth > _DEEPEST or left[0] <= 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _below(item, left, depth + 1)
    elif isinstance(value, dict):
        left[0] -= 1
        if "@type" in value:
            yield value
        if "BreadcrumbList" not in types_of(value):
            for holder in _HOLDERS:
                if isinstance(value.get(holder), dict | list):
                    yield from _below(value[holder], left, depth + 1)


def _parsed(text: str) -> Any:
    """None when nothing can be made of it."""
    bare = _WRAPPING.sub("", text.strip()).strip()
    for attempt in (bare, _LAST_COMMA.sub("", bare), html.unescape(_LAST_COMMA.sub("", bare))):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None
