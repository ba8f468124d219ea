"""Facts that visitors ask for and that a page marks up: telephone, e-mail, address, hours, prices, events.

They come from JSON-LD, microdata and RDFa of schema.org, from hCard and hCalendar, and from links to `tel:`
and `mailto:`. All markup is read into the same nodes, so a Restaurant is one however it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast
from urllib.parse import unquote

from lxml.etree import XPath, _Element

from crawler.extractors.html.structured_data import (
    Node,
    event_lines,
    is_a,
    listed,
    offer_lines,
    place_lines,
    text_of,
    types_of,
)
from crawler.extractors.text import bounded_text, fold
from crawler.wordset import wordpairs

MarkedFact = tuple[str, str, str]
"""Kind, what it is the fact of, and its value."""

PHONE, EMAIL, ADDRESS, HOURS = "phone", "email", "address", "hours"
SOCIAL, PRICE, EVENT = "social", "price", "event"
MOST = 60
"""Facts of one page."""
_LONGEST = 300
_MOST_ELEMENTS = 2_000
_DEEPEST = 5
_KINDS = {
    "Telephone": PHONE, "E-mail": EMAIL, "Address": ADDRESS, "Opening hours": HOURS, "Open": HOURS,
    "Price": PRICE,
}  # fmt: skip
_BELOW = ("department", "event", "events", "subEvent", "publisher", "makesOffer", "itemOffered")
"""Properties that hold further things with facts of the site."""
_REACHING = XPath("//a[starts-with(@href, 'tel:') or starts-with(@href, 'mailto:')]")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def marked_facts(root: _Element, things: Iterable[Node], markup: str) -> tuple[MarkedFact, ...]:
    """Return the facts of a page, each once. `things` are the nodes of its JSON-LD, `markup` its source."""
    found: dict[MarkedFact, None] = {}
    nodes = [*things, *(node for one in _DIALECTS if one.sign.search(markup) for node in one.nodes(root))]
    for node in nodes:
        for kind, label, value in _of_node(node, 0):
            if value.strip():
                found[kind, fold(label)[:_LONGEST], fold(value)[:_LONGEST]] = None
    if "tel:" in markup or "mailto:" in markup:
        found.update(dict.fromkeys(filter(None, map(_of_link, _elements(_REACHING, root)[: 3 * MOST]))))
    return tuple(islice(found, MOST))


def _of_node(node: Node, depth: int) -> Iterator[MarkedFact]:
    types, name = types_of(node), text_of(node.get("name"))
    if is_a(types, "Event"):
        lines = dict(event_lines(node))
        when = " ".join(filter(None, (lines["Date"], lines["Time"])))
        until = f"– {lines['Until']}" if lines["Until"] else ""
        value = ", ".join(filter(None, (f"{when} {until}".strip(), lines.get("Place", ""))))
        yield EVENT, name, value if name and when else ""
        yield from _with_kinds(name, offer_lines(node))
    elif is_a(types, "Place", "Organization"):
        yield from _with_kinds(name, place_lines(node))
        for address in listed(node.get("sameAs")):
            yield SOCIAL, name, text_of(address)
    elif is_a(types, "Product", "Service") and name:
        yield from _with_kinds(name, offer_lines(node))
    elif is_a(types, "Offer") and name:
        yield from _with_kinds(name, offer_lines({"offers": {**node, "name": ""}}))
    if depth < 3:
        for part in _BELOW:
            for below in listed(node.get(part))[:MOST]:
                if isinstance(below, dict):
                    yield from _of_node(below, depth + 1)


def _with_kinds(name: str, lines: Iterable[tuple[str, str]]) -> Iterator[MarkedFact]:
    hours = []
    for label, value in lines:
        what, _, of = label.partition(" (")
        kind = _KINDS.get(what)
        if kind == HOURS:
            hours.append(value)
        elif kind:
            yield kind, f"{name} ({of}" if of and name else name or of.rstrip(")"), value
    yield HOURS, name, "; ".join(filter(None, hours))


def _of_link(link: _Element) -> MarkedFact | None:
    """Return what a link to `tel:` or `mailto:` reaches; its words are the label unless they repeat it."""
    scheme, _, target = (link.get("href") or "").partition(":")
    target, words = fold(unquote(target.partition("?")[0])), bounded_text(link, _LONGEST)
    if scheme == "mailto":
        match = _ADDRESS.fullmatch(target)
        return (EMAIL, "" if "@" in words else words, target) if match else None
    if sum(map(str.isdigit, target)) < 3:
        return None
    shows = sum(map(str.isdigit, words)) >= 3
    return (PHONE, "", words) if shows and len(words) < 40 else (PHONE, "" if shows else words, target)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """One way to write nodes in the attributes of elements."""

    sign: re.Pattern[str]
    """What the source of every page with such markup contains."""
    scopes: XPath
    types: Callable[[_Element], list[str]]
    """Types of an element that is a node; [] for other elements."""
    properties: Callable[[_Element], list[str]]
    """Properties of the node around an element that the element gives."""

    def nodes(self, root: _Element) -> Iterator[Node]:
        """Yield the nodes that are not values of other nodes."""
        inner: set[_Element] = set()
        for element in _elements(self.scopes, root)[:MOST]:
            if element not in inner:
                yield self._node(element, inner, 0)

    def _node(self, scope: _Element, inner: set[_Element], depth: int) -> Node:
        node: Node = {"@type": self.types(scope)}
        left = list(reversed(scope))
        for _ in range(_MOST_ELEMENTS):
            if not left:
                break
            element = left.pop()
            named = self.properties(element)
            is_node = bool(self.types(element))
            if named and is_node and depth < _DEEPEST:
                inner.add(element)
                value: object = self._node(element, inner, depth + 1)
            else:
                value = _value(element, named)
            for name in named:
                node.setdefault(name, []).append(value)
            if not is_node:
                left.extend(reversed(element))
        return node


def _elements(path: XPath, root: _Element) -> list[_Element]:
    return cast(list[_Element], path(root))


def _value(element: _Element, named: list[str]) -> str:
    if not named:
        return ""
    given = element.get("content") or element.get("datetime") or ""
    if element.tag == "abbr":  # <abbr class="dtstart" title="2026-05-03">
        given = element.get("title") or given
    address = element.get("href") or ""
    if given or element.tag == "link" or {"url", "sameAs"}.intersection(named):
        return given or address
    return bounded_text(element, _LONGEST) or address


def _names(element: _Element, attribute: str) -> list[str]:
    """Return the words of an attribute without vocabulary: "schema:name" and ".../name" are "name"."""
    return [re.split(r"[:/#]", word)[-1] for word in (element.get(attribute) or "").split()]


_CLASSES = wordpairs("marked_facts.classes")
_CARDS = wordpairs("marked_facts.cards")


def _card_properties(element: _Element) -> list[str]:
    words = (element.get("class") or "").split()
    return [_CLASSES[name] for word in words if (name := re.sub(r"^(?:p|u|dt|e)-", "", word)) in _CLASSES]


def _card_types(element: _Element) -> list[str]:
    return [_CARDS[word] for word in (element.get("class") or "").split() if word in _CARDS]


_DIALECTS = (
    _Dialect(
        re.compile(r"itemscope[^>]*schema\.org|schema\.org[^>]*itemscope"),
        XPath("//*[@itemscope]"),
        lambda element: (_names(element, "itemtype") or ["Thing"]) if "itemscope" in element.attrib else [],
        lambda element: _names(element, "itemprop"),
    ),
    _Dialect(
        re.compile(r"typeof\s*="),
        XPath("//*[@typeof]"),
        lambda element: _names(element, "typeof"),
        lambda element: _names(element, "property"),
    ),
    _Dialect(
        re.compile(r"\b(?:vcard|h-card|vevent|h-event)\b"),
        XPath("//*[contains(@class, 'vcard') or contains(@class, 'h-card') or contains(@class, 'event')]"),
        _card_types,
        _card_properties,
    ),
)
