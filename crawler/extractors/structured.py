"""What a page says in JSON-LD: questions and answers, products, articles, businesses, breadcrumbs.

Only what the visible text does not say already becomes a block, after the page's own blocks: the
same answer twice would be two sources of one statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml.etree import _Element

from crawler.extractors.json_ld import Node, listed, nodes, text_of, types_of
from crawler.extractors.text import fold
from crawler.page import Block
from crawler.wordset import wordset

_QUESTIONS = wordset("Question")
_PRODUCTS = wordset("Product ProductGroup IndividualProduct ProductModel Vehicle SoftwareApplication")
_ARTICLES = wordset("Article NewsArticle BlogPosting TechArticle Report ScholarlyArticle")
_NOT_A_WORD = re.compile(r"[\W_]+")
_PLACES = wordset(
    "LocalBusiness Organization Corporation Store Restaurant CafeOrCoffeeShop Hotel LodgingBusiness Dentist"
    " Physician MedicalClinic Pharmacy AutoRepair BarOrPub Bakery HairSalon GovernmentOffice Library School"
)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MOST_BLOCKS = 200

ReadHtml = Callable[[str], tuple[Block, ...]]


@dataclass(frozen=True, slots=True)
class Structured:
    """What was found, not yet compared with the visible text."""

    blocks: tuple[Block, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    headline: str = ""
    questions: tuple[tuple[str, str], ...] = ()
    """With their answers as text, also where the page shows them."""


def read_structured(root: _Element, read_html: ReadHtml) -> Structured:
    """`read_html` turns the markup of an answer into blocks."""
    blocks: list[Block] = []
    breadcrumbs: tuple[str, ...] = ()
    headline = ""
    questions: list[tuple[str, str]] = []
    for node in nodes(root):
        types = types_of(node)
        if types & _QUESTIONS:
            answer = list(_answer(node, read_html))
            blocks += answer
            if answer:
                questions.append((answer[0].heading_path[0], fold(" ".join(block.text for block in answer))))
        elif types & _PRODUCTS:
            blocks += _facts(node, _product(node))
            blocks += _described(node, read_html)
        elif types & _ARTICLES:
            headline = headline or text_of(node.get("headline"))
            blocks += _facts(node, _article(node), "headline")
        elif types & _PLACES:
            blocks += _facts(node, _place(node))
        elif "BreadcrumbList" in types and not breadcrumbs:
            breadcrumbs = _breadcrumbs(node)
    return Structured(tuple(blocks[:_MOST_BLOCKS]), breadcrumbs, headline, tuple(questions))


def unsaid(blocks: tuple[Block, ...], visible: tuple[Block, ...], heading: str) -> tuple[Block, ...]:
    """Of `blocks`, what `visible` does not say. `heading` is the page's own: it is not put below itself."""
    if not blocks:
        return ()
    said = "".join(_squeezed(text) for block in visible for text in (*block.heading_path, block.text))
    left = []
    for block in blocks:
        path = tuple(name for name in block.heading_path if _squeezed(name) != _squeezed(heading))
        if block.kind == "table":
            lines = [line for line in block.text.split("\n") if not _fact_said(line, said)]
            if lines:
                left.append(Block("\n".join(lines), path or block.heading_path, "table"))
        elif not _text_said(block.text, said):
            left.append(Block(block.text, path or block.heading_path, block.kind))
    return tuple(left)


def _answer(question: Node, read_html: ReadHtml) -> Iterator[Block]:
    name = fold(" ".join(block.text for block in read_html(text_of(question.get("name")))))
    answers = listed(question.get("acceptedAnswer")) or listed(question.get("suggestedAnswer"))[:3]
    for answer in answers:
        for block in read_html(text_of(answer.get("text")) if isinstance(answer, dict) else text_of(answer)):
            if name:
                yield Block(block.text, (name, *block.heading_path), block.kind)


def _facts(node: Node, facts: Iterator[tuple[str, str]], named: str = "name") -> Iterator[Block]:
    name = fold(text_of(node.get(named)))
    lines = [f"{label}\t{fold(value)}" for label, value in facts if fold(value)]
    if lines and name:
        yield Block("\n".join(lines), (name,), "table")


def _described(node: Node, read_html: ReadHtml) -> Iterator[Block]:
    name = fold(text_of(node.get("name")))
    for block in read_html(text_of(node.get("description"))):
        if name:
            yield Block(block.text, (name, *block.heading_path), block.kind)


def _product(node: Node) -> Iterator[tuple[str, str]]:
    yield "Brand", text_of(node.get("brand"))
    yield "Article number", text_of(node.get("sku") or node.get("mpn"))
    yield "GTIN", next((text_of(node[key]) for key in node if key.startswith("gtin")), "")
    for offer in listed(node.get("offers"))[:20]:
        if not isinstance(offer, dict):
            continue
        currency = text_of(offer.get("priceCurrency"))
        price, low, high = (text_of(offer.get(key)) for key in ("price", "lowPrice", "highPrice"))
        price = price or (f"{low} – {high}" if low and high and low != high else low)
        label = text_of(offer.get("name"))
        yield f"Price ({label})" if label else "Price", f"{price} {currency}" if price else ""
        yield "Availability", _spaced(text_of(offer.get("availability")).rpartition("/")[2])


def _article(node: Node) -> Iterator[tuple[str, str]]:
    yield "Author", ", ".join(filter(None, map(text_of, listed(node.get("author")))))
    yield "Published", text_of(node.get("datePublished"))[:10]
    yield "Updated", text_of(node.get("dateModified"))[:10]


def _place(node: Node) -> Iterator[tuple[str, str]]:
    yield "Telephone", text_of(node.get("telephone"))
    yield "E-mail", text_of(node.get("email")).removeprefix("mailto:")
    for address in listed(node.get("address")):
        parts = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
        named = (
            [text_of(address.get(part)) for part in parts] if isinstance(address, dict) else [str(address)]
        )
        yield "Address", ", ".join(filter(None, named))
    hours = [text for item in listed(node.get("openingHours")) if (text := text_of(item))]
    yield "Opening hours", "; ".join(hours)
    for item in listed(node.get("openingHoursSpecification"))[:14]:
        if isinstance(item, dict):
            days = ", ".join(text_of(day).rpartition("/")[2] for day in listed(item.get("dayOfWeek")))
            yield "Open", f"{days} {text_of(item.get('opens'))[:5]}–{text_of(item.get('closes'))[:5]}"


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
    """InStock -> in stock"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word).lower()


def _squeezed(text: str) -> str:
    """Letters and digits only: neither white space nor signs tell two texts apart."""
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
    if date:  # "12 May 2025" says it as well
        return date[1] in said and str(int(date[3])) in said
    return _squeezed(value) in said
