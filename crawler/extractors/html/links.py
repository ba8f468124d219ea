"""Links of a page: their addresses, those that a crawler may follow, and their words."""

from __future__ import annotations

from collections.abc import Mapping

from lxml.etree import _Element

from crawler.discovery import urls
from crawler.extractors import SourceDocument
from crawler.extractors.text import bounded_text
from crawler.wordset import wordset

MOST_LINK_TEXTS = 200
"""Limit for one page. Links of its navigation are dropped first: other pages have them too."""
LONGEST = 200
"""Characters of one text; a link around a whole paragraph is no name."""
_AROUND = wordset("nav header footer aside")
_FRAMES = ("frame", "iframe")
_NO_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")


def read_links(
    root: _Element, base: str, source: SourceDocument
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """All links, the links that a crawler may follow, and (address, words) of the links."""
    wanted: dict[str, bool] = {}
    anchors: dict[_Element, str] = {}
    unwanted = _NO_PAGES[1:] if source.hash_routes else _NO_PAGES
    for element in root.iter("a", "area", "link", *_FRAMES):
        href = element.get("src") if element.tag in _FRAMES else element.get("href")
        if not href or href.startswith(unwanted):
            continue
        rel = (element.get("rel") or "").lower().split()
        if element.tag == "link" and not _leads_to_a_page(element, rel):
            continue
        target = href if source.hash_routes else href.partition("#")[0]
        wanted[target] = wanted.get(target, False) or "nofollow" not in rel
        if element.tag == "a":
            anchors[element] = target
    found: dict[str, bool] = {}
    addresses: dict[str, str] = {}
    for target, followed in wanted.items():
        url = urls.canonical(target, base, hash_routes=source.hash_routes)
        if url and url != source.url:
            addresses[target] = url
            found[url] = found.get(url, False) or followed
    said = _link_texts(anchors, addresses)
    return tuple(found), tuple(url for url, followed in found.items() if followed), said


def _leads_to_a_page(link: _Element, rel: list[str]) -> bool:
    """Whether a <link> leads to the next or previous page or another language, not to a style or feed."""
    if "alternate" in rel:
        return bool(link.get("hreflang")) and "stylesheet" not in rel
    return bool({"next", "prev"} & set(rel))


def _link_texts(elements: Mapping[_Element, str], targets: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(address, words), each once, in page order. `elements` are links with what they lead to as written;
    `targets` gives the addresses of those that lead to another page."""
    found: dict[tuple[str, str], bool] = {}
    for element, target in elements.items():
        url = targets.get(target, "")
        words = _words(element) if url else ""
        if words:
            pair = url, words
            found[pair] = found.get(pair, True) and _is_around(element)
    excess = len(found) - MOST_LINK_TEXTS
    if excess <= 0:
        return tuple(found)
    dropped = set([pair for pair, around in found.items() if around][-excess:])
    return tuple(pair for pair in found if pair not in dropped)[:MOST_LINK_TEXTS]


def _words(link: _Element) -> str:
    text = bounded_text(link, LONGEST + 1)
    if not text:  # the text is in a picture
        image = next(link.iter("img"), None)
        text = " ".join((link.get("aria-label") or (image is not None and image.get("alt")) or "").split())
    return text if len(text) <= LONGEST and any(map(str.isalnum, text)) else ""


def _is_around(element: _Element) -> bool:
    return next(element.iterancestors(*_AROUND), None) is not None
