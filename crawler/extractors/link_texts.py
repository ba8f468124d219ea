"""What links say of the pages that they lead to."""

from __future__ import annotations

from collections.abc import Mapping

from lxml.etree import _Element

from crawler.extractors.text import bounded_text
from crawler.wordset import wordset

MOST_LINK_TEXTS = 200
"""Of one page. Where there are more, those of its navigation go first: other pages have them too."""
LONGEST = 200
"""Characters of one; a link around a whole paragraph names nothing."""
_AROUND = wordset("nav header footer aside")


def link_texts(elements: Mapping[_Element, str], targets: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
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
    if not text:  # a picture says it
        image = next(link.iter("img"), None)
        text = " ".join((link.get("aria-label") or (image is not None and image.get("alt")) or "").split())
    return text if len(text) <= LONGEST and any(map(str.isalnum, text)) else ""


def _is_around(element: _Element) -> bool:
    return next(element.iterancestors(*_AROUND), None) is not None
