"""Facts that a page marks up for machines: JSON-LD of schema.org, and questions with answers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from lxml.etree import XPath, _Element

from crawler.extractors.text import bounded_text, fold, plain_text
from crawler.judging.page_kinds import day_in
from crawler.page import Block
from crawler.wordset import tables_of, wordlist

_NOT_A_WORD = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MOST_BLOCKS = 200

ReadHtml = Callable[[str], tuple[Block, ...]]


@dataclass(slots=True)
class Structured:
    """Facts from JSON-LD, not yet compared with the visible text."""

    blocks: list[Block] = field(default_factory=list)
    breadcrumbs: tuple[str, ...] = ()
    headline: str = ""
    questions: list[tuple[str, str]] = field(default_factory=list)
    """(question, answer) pairs as text, including those that the page shows."""
    dates: list[str] = field(default_factory=list)
    """When the article of the page was changed and published; empty for a page that is no article."""
    site_name: str = ""
    ended: str = ""
    """Day on which the last of its events ends, such as "2023-07-23"."""


def read_structured(things: Iterable[Node], read_html: ReadHtml) -> Structured:
    """Read the `nodes` of a page. `read_html` turns the markup of an answer into blocks."""
    found = Structured()
    for node in things:
        types = types_of(node)
        if "Question" in types:
            answer = list(_answer(node, read_html))
            found.blocks += answer
            if answer:
                said = fold(" ".join(block.text for block in answer))
                found.questions.append((answer[0].heading_path[0], said))
        elif is_a(types, "Product"):
            found.blocks += _facts(node, product_lines(node))
            found.blocks += _described(node, read_html)
        elif is_a(types, "Article"):
            found.headline = found.headline or text_of(node.get("headline"))
            days = (text_of(node.get(name)) for name in ("datePublished", "dateModified"))
            found.dates += filter(None, days)
            found.blocks += _facts(node, _article(node), "headline")
        elif is_a(types, "Place", "Organization"):
            found.blocks += _facts(node, place_lines(node))
        elif is_a(types, "Event"):
            found.blocks += _facts(node, event_lines(node))
            end = day_in(text_of(node.get("endDate") or node.get("startDate")))
            found.ended = max(found.ended, end)
        elif "WebSite" in types:
            found.site_name = found.site_name or fold(text_of(node.get("name")))
        elif "BreadcrumbList" in types and not found.breadcrumbs:
            found.breadcrumbs = _breadcrumbs(node)
    del found.blocks[_MOST_BLOCKS:]
    return found


def facts_not_shown(blocks: Sequence[Block], visible: tuple[Block, ...], heading: str) -> tuple[Block, ...]:
    """The parts of `blocks` that are not in `visible`. `heading` is the page's own and left out of paths."""
    if not blocks:
        return ()
    said = "".join(_squeezed(text) for block in visible for text in (*block.heading_path, block.text))
    tops = (block.heading_path[0] for block in visible if block.heading_path)
    own = next((top for top in tops if _squeezed(top) == _squeezed(heading)), heading)
    left = []
    for block in blocks:
        path = tuple(name for name in block.heading_path if _squeezed(name) != _squeezed(heading))
        path = path or (block.heading_path and (own,))
        if block.kind == "table":
            lines = [line for line in block.text.split("\n") if not _fact_said(line, said)]
            if lines:
                left.append(Block("\n".join(lines), path, "table"))
        elif not _text_said(block.text, said):
            left.append(Block(block.text, path, block.kind))
    return tuple(left)


def _answer(question: Node, read_html: ReadHtml) -> Iterator[Block]:
    name = fold(" ".join(block.text for block in read_html(text_of(question.get("name")))))
    answers = listed(question.get("acceptedAnswer")) or listed(question.get("suggestedAnswer"))[:3]
    for answer in answers:
        yield from _named(
            name, read_html(text_of(answer.get("text") if isinstance(answer, dict) else answer))
        )


def _facts(node: Node, facts: Iterator[tuple[str, str]], named: str = "name") -> Iterator[Block]:
    name = fold(text_of(node.get(named)))
    lines = [f"{label}\t{fold(value)}" for label, value in facts if fold(value)]
    if lines and name:
        yield Block("\n".join(lines), (name,), "table")


def _described(node: Node, read_html: ReadHtml) -> Iterator[Block]:
    return _named(fold(text_of(node.get("name"))), read_html(text_of(node.get("description"))))


def _named(name: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks below a heading with this name; none without a name."""
    return (Block(block.text, (name, *block.heading_path), block.kind) for block in blocks if name)


def product_lines(node: Node) -> Iterator[tuple[str, str]]:
    """Yield (label, value) of a product, among them "Price" or "Price (name of the offer)"."""
    yield "Brand", text_of(node.get("brand"))
    yield "Article number", text_of(node.get("sku") or node.get("mpn"))
    yield "GTIN", next((text_of(node[key]) for key in node if key.startswith("gtin")), "")
    yield from offer_lines(node)


def offer_lines(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the prices of a thing that is offered, and which of them are available."""
    for offer in listed(node.get("offers"))[:20]:
        if not isinstance(offer, dict):
            continue
        currency = text_of(offer.get("priceCurrency"))
        price, low, high = (text_of(offer.get(key)) for key in ("price", "lowPrice", "highPrice"))
        price = price or (f"{low} – {high}" if low and high and low != high else low)
        per = next((one for one in listed(offer.get("priceSpecification")) if isinstance(one, dict)), {})
        price, currency = price or text_of(per.get("price")), currency or text_of(per.get("priceCurrency"))
        unit = f" per {named}" if (named := text_of(per.get("unitText"))) else ""
        label = text_of(offer.get("name"))
        yield f"Price ({label})" if label else "Price", f"{price} {currency}{unit}" if price else ""
        yield "Availability", _spaced(text_of(offer.get("availability")).rpartition("/")[2])


def _article(node: Node) -> Iterator[tuple[str, str]]:
    yield "Author", ", ".join(filter(None, map(text_of, listed(node.get("author")))))
    yield "Published", text_of(node.get("datePublished"))[:10]
    yield "Updated", text_of(node.get("dateModified"))[:10]


def place_lines(node: Node) -> Iterator[tuple[str, str]]:
    """Yield (label, value) of a place or an organisation: "Telephone", "E-mail", "Address", "Opening hours"
    and "Open"; telephone and e-mail also of its departments, as "Telephone (sales)"."""
    yield "Telephone", text_of(node.get("telephone")).removeprefix("tel:")
    yield "E-mail", text_of(node.get("email")).removeprefix("mailto:")
    for point in listed(node.get("contactPoint"))[:20]:
        if isinstance(point, dict):
            name = f" ({of})" if (of := text_of(point.get("contactType"))) else ""
            yield f"Telephone{name}", text_of(point.get("telephone")).removeprefix("tel:")
            yield f"E-mail{name}", text_of(point.get("email")).removeprefix("mailto:")
    for address in listed(node.get("address")):
        yield "Address", _address(address)
    hours = [text for item in listed(node.get("openingHours")) if (text := text_of(item))]
    yield "Opening hours", "; ".join(hours)
    for item in listed(node.get("openingHoursSpecification"))[:14]:
        if isinstance(item, dict):
            days = ", ".join(text_of(day).rpartition("/")[2] for day in listed(item.get("dayOfWeek")))
            opens, closes = (text_of(item.get(name))[:5] for name in ("opens", "closes"))
            span = [day for name in ("validFrom", "validThrough") if (day := text_of(item.get(name))[:10])]
            only = f" ({' – '.join(span)})" if span else ""
            if days and opens and closes and opens != closes:
                yield "Open", f"{days} {opens}–{closes}{only}"


def event_lines(node: Node) -> Iterator[tuple[str, str]]:
    """Yield (label, value) of an event: "Date", "Time", "Until", "Place" and the prices."""
    first, last = text_of(node.get("startDate")), text_of(node.get("endDate"))[:10]
    yield "Date", first[:10]
    yield "Time", first[11:16]
    yield "Until", last if last != first[:10] else ""
    for place in listed(node.get("location"))[:3]:
        if isinstance(place, dict):
            parts = (text_of(place.get("name")), _address(place.get("address")))
            yield "Place", ", ".join(filter(None, map(fold, parts)))
        else:
            yield "Place", text_of(place)
    yield from offer_lines(node)


def _address(value: object) -> str:
    if not isinstance(value, dict):
        return text_of(value)
    parts = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
    return ", ".join(filter(None, (text_of(value.get(part)) for part in parts)))


def _breadcrumbs(node: Node) -> tuple[str, ...]:
    steps = [item for item in listed(node.get("itemListElement")) if isinstance(item, dict)]
    steps.sort(key=_position)
    names = (text_of(step.get("name")) or text_of(step.get("item")) for step in steps)
    return tuple(name for name in map(fold, names) if name and not name.startswith(("http:", "https:")))


def _position(step: Node) -> int:
    try:
        return int(text_of(step.get("position")) or 0)
    except ValueError:
        return 0


def _spaced(word: str) -> str:
    """Turn "InStock" into "in stock"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word).lower()


def _squeezed(text: str) -> str:
    """Letters and digits only, so that texts that differ in spaces and punctuation are equal."""
    return _NOT_A_WORD.sub("", text).casefold()


def _text_said(text: str, said: str) -> bool:
    sentences = [squeezed for part in _SENTENCE_END.split(text) if (squeezed := _squeezed(part))]
    return sum(len(sentence) for sentence in sentences if sentence in said) * 3 >= 2 * sum(
        map(len, sentences)
    )


def _fact_said(line: str, said: str) -> bool:
    label, _, value = line.partition("\t")
    if label.startswith("Price"):
        amount = value.partition(" ")[0].replace(",", ".")
        whole, _, cents = amount.partition(".")
        return _squeezed(whole + cents) in said or (not cents.strip("0") and _squeezed(whole) in said)
    date = _DATE.fullmatch(value)
    if date:  # "12 May 2025" is the same date
        return date[1] in said and str(int(date[3])) in said
    return _squeezed(value) in said


Node = dict[str, Any]

_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$")
_LAST_COMMA = re.compile(r",\s*(?=[\]}])")
_HOLDERS = wordlist("structured_data.holders")
_DEEPEST = 6
_MOST_NODES = 500
_LONGEST_TEXT = 50_000


def nodes(root: _Element) -> Iterator[Node]:
    """All things that the page itself describes, outer ones first, without similar and related things."""
    left = [_MOST_NODES]
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower().startswith("application/ld+json"):
            yield from _below(_parsed(plain_text(script)), left, 0)


def types_of(node: Node) -> frozenset[str]:
    """Names of the node's types without the vocabulary's address."""
    return frozenset(text_of(name).rpartition("/")[2] for name in listed(node.get("@type")))


_SCHEMA_TYPES = tables_of(__file__, "schema_types.toml")
_BELOW = {parent: frozenset(names.split()) for parent, names in _SCHEMA_TYPES.items()}
"""Type of schema.org -> the types right below it."""


def is_a(types: Iterable[str], *wanted: str) -> bool:
    """Return whether one of the types is one of `wanted`, or below it: a Bakery is a LocalBusiness, and so a
    Place."""
    return any(not _with_ancestors(name).isdisjoint(wanted) for name in types)


@lru_cache(maxsize=1_000)
def _with_ancestors(name: str) -> frozenset[str]:
    above = (_with_ancestors(parent) for parent, children in _BELOW.items() if name in children)
    return frozenset({name}).union(*above)


def listed(value: Any) -> list[Any]:
    """The values of a property, which may hold one or many."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def text_of(value: Any) -> str:
    """A value as text: the name of a thing, the first of several values."""
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
    """The value of broken or valid JSON; None if it cannot be parsed."""
    bare = _WRAPPING.sub("", text.strip()).strip()
    for attempt in (bare, _LAST_COMMA.sub("", bare), html.unescape(_LAST_COMMA.sub("", bare))):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


Pair = tuple[str, str]

MOST_PAIRS = 200
"""Limit for one page."""
LONGEST_QUESTION = 300
LONGEST_ANSWER = 5_000
_MOST_LOOKED_AT = 300
_MOST_PARTS = 1_000
_MICRODATA = XPath("//*[@itemscope][contains(@itemtype, 'schema.org/Question')]")
_MARK = re.compile(r"[?？؟]\s*$|[\u0370-\u03ff\u1f00-\u1fff];\s*$")
"""Greek questions end with a semicolon."""
_BEGINS = re.compile(
    r"""(?:how|what|when|where|who|whom|whose|which|why|can|could|should
      |wie|wann|wo|wohin|wer|warum|wieso|welche[rsnm]?|kann|können|darf|muss
      |comment|quel\w*|quand|où|pourquoi|combien|puis-je|est-ce
      |cómo|qué|cuándo|dónde|quién|cuánt\w+|por\ qué|como|quando|onde|quem|quanto|come|dove|perché
      |как|что|когда|где|кто|почему|сколько|можно)\ [^\W\d_]+(?:\ |'|’)[^\W\d_]
    | (?:如何|怎么|怎樣|怎样|什么|什麼|为什么|為什麼|哪里|哪裡|是否|能否)""",
    re.IGNORECASE | re.VERBOSE,
)


def reads_as_question(text: str) -> bool:
    """Whether `text` reads like a visitor's question: it ends with a question mark, or has three words of
    which the first one asks."""
    return bool(_MARK.search(text) or _BEGINS.match(text)) and len(text) >= 4


def marked_questions(root: _Element, markup: str) -> Iterator[Pair]:
    """(question, answer) pairs in the tree; `markup` is the source of the tree."""
    if "schema.org/Question" in markup:
        found = cast(list[_Element], _MICRODATA(root))
        yield from map(_of_microdata, found[:MOST_PAIRS])
    for details in islice(root.iter("details"), _MOST_LOOKED_AT):
        summary = details.find("summary")
        name = bounded_text(summary, LONGEST_QUESTION + 1) if summary is not None else ""
        if summary is not None and reads_as_question(name):
            yield name, bounded_text(details, LONGEST_ANSWER, () if summary is None else (summary,))
    for term in islice(root.iter("dt"), _MOST_LOOKED_AT):
        name = bounded_text(term, LONGEST_QUESTION + 1)
        if reads_as_question(name):
            yield name, " ".join(_definitions(term))


def pairs_of(found: Iterable[Pair]) -> tuple[Pair, ...]:
    """The usable pairs, each question once, with answers cut to the limit."""
    kept: dict[str, Pair] = {}
    for question, answer in found:
        usable = question and answer and len(question) <= LONGEST_QUESTION
        if usable and question.casefold() not in kept:
            kept[question.casefold()] = (question, answer[:LONGEST_ANSWER])
            if len(kept) == MOST_PAIRS:
                break
    return tuple(kept.values())


def _of_microdata(question: _Element) -> Pair:
    name = _part(question, "name")
    answer = _part(question, "acceptedAnswer", "suggestedAnswer")
    if name is None or answer is None:
        return "", ""
    text = _part(answer, "text")
    words = bounded_text(answer if text is None else text, LONGEST_ANSWER)
    return bounded_text(name, LONGEST_QUESTION + 1), words


def _part(element: _Element, *names: str) -> _Element | None:
    wanted = frozenset(names)
    below = islice(element.iterdescendants(), _MOST_PARTS)
    return next((part for part in below if wanted & set((part.get("itemprop") or "").split())), None)


def _definitions(term: _Element) -> Iterator[str]:
    left, follower = LONGEST_ANSWER, term.getnext()
    while follower is not None and follower.tag == "dd" and left > 0:
        text = bounded_text(follower, left)
        left -= len(text)
        yield text
        follower = follower.getnext()
