"""Text of elements as a reader sees it, and helpers for text."""

import re
from collections.abc import Callable
from itertools import islice
from urllib.parse import unquote, urlsplit

from lxml.etree import XPath, _Element, iterwalk

from crawler.wordset import wordset

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACED_LENGTH = XPath("string-length(normalize-space(.))")

BLOCK_TAGS = wordset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section "
    "summary table tbody td tfoot th thead tr ul caption frameset search"
)

_DEEPEST = 100
_MOST_STEPS = 2_000
_UNREAD = wordset("script style template noscript")


def fold(text: str) -> str:
    """White space folded to single spaces, none at the ends; invisible characters removed.

    No-break spaces fold like the others: browsers look for quotes with all of them folded too.
    """
    folded = " ".join(text.split())
    return folded if folded.isascii() else _INVISIBLE.sub("", folded).strip()


def name_in_address(url: str) -> str:
    """A title for a page that has none: the last part of its path, else the host."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc


def text_length(element: _Element) -> int:
    """Characters of all text below, white space folded. Done in C: cheap even for a whole page."""
    return int(float(str(_SPACED_LENGTH(element))))


def plain_text(element: _Element) -> str:
    """All text below, as written in the markup."""
    return "".join(map(str, element.itertext()))


def bounded_text(element: _Element, most: int, without: _Element | None = None) -> str:
    """At most the first `most` characters of the text below, folded, without scripts and without one part;
    blocks are kept apart. As quick for a whole page as for a word of it."""
    if not len(element):
        return fold(element.text or "")[:most]
    parts: list[str] = []
    length = 0
    walk = iterwalk(element, events=("start", "end"))
    for event, here in islice(walk, _MOST_STEPS):
        is_block = here.tag in BLOCK_TAGS or here.tag == "br"
        text = (here.text if event == "start" else here.tail if here is not element else "") or ""
        if event == "start" and (here is without or here.tag in _UNREAD):
            walk.skip_subtree()
            text = ""
        parts.append(f" {text}" if is_block else text)
        length += len(text)
        if length > 4 * most:
            break
    return fold("".join(parts))[:most]


def raw_text(element: _Element, dropped: Callable[[_Element], bool], depth: int = 0) -> str:
    """Text below `element` without dropped elements, not folded; a space separates blocks."""
    if depth > _DEEPEST:
        return plain_text(element)
    parts = [element.text or ""]
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and not dropped(child):
            if tag == "br":
                parts.append(" ")
            elif tag in BLOCK_TAGS:
                parts.append(f" {raw_text(child, dropped, depth + 1)} ")
            else:
                parts.append(raw_text(child, dropped, depth + 1))
        parts.append(child.tail or "")
    return "".join(parts)


def code_text(element: _Element, dropped: Callable[[_Element], bool], depth: int = 0) -> str:
    """Text of a <pre>: lines kept as they are."""
    if depth > _DEEPEST:
        return plain_text(element)
    parts = [element.text or ""]
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and not dropped(child):
            inner = "\n" if tag == "br" else code_text(child, dropped, depth + 1)
            if tag in BLOCK_TAGS and not inner.endswith("\n"):
                inner += "\n"  # highlighters wrap each line in a block
            parts.append(inner)
        parts.append(child.tail or "")
    return "".join(parts)
