"""Where on a page its content stands."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element

from crawler.extractors.text import text_length

# Containers that frameworks and documentation tools put a page's content in, best first.
_KNOWN_IDS = ("mw-content-text", "main-content", "maincontent", "page-content", "content", "main")
_KNOWN_CLASSES = (
    "markdown-body",
    "theme-doc-markdown",
    "rst-content",
    "entry-content",
    "post-content",
    "article-content",
    "main-content",
)
_EXACT_CLASSES = ("body", "document", "content")
"""Words too common to look for among others."""
_RANKS = {name: rank for rank, name in enumerate(_KNOWN_IDS + _KNOWN_CLASSES + _EXACT_CLASSES)}
_LEAST_SHARE = 0.2
_LEAST_CHARACTERS = 60


def find_main(body: _Element) -> tuple[_Element, bool]:
    """The element that holds the content, and whether the page's own markup says so.

    A candidate that holds next to nothing of the page's text is a mistake of the template, and
    the next one is tried; in the end the whole body is taken.
    """
    size = text_length(body)
    for candidate, trusted in _candidates(body):
        length = text_length(candidate)
        if length >= _LEAST_CHARACTERS and length >= size * _LEAST_SHARE:
            return candidate, trusted
    return body, False


def _candidates(body: _Element) -> Iterator[tuple[_Element, bool]]:
    mains: list[_Element] = []
    articles: list[_Element] = []
    known: dict[int, list[_Element]] = {}
    for element in body.iter("main", "article", "div", "section", "td"):
        if element.tag == "main" or element.get("role") == "main":
            mains.append(element)
        elif element.tag == "article":
            if not articles or articles[-1] not in element.iterancestors("article"):
                articles.append(element)
        elif (rank := _rank(element)) is not None:
            known.setdefault(rank, []).append(element)
    if mains:
        yield max(mains, key=text_length), True
    if len(articles) == 1:
        yield articles[0], True
    for rank in sorted(known):
        outermost = _outermost(known[rank])
        if len(outermost) == 1:
            yield outermost[0], False
        else:  # posts of a thread, not the thread
            yield _around(outermost), False


def _outermost(elements: list[_Element]) -> list[_Element]:
    """Those that stand in no other of them. `elements` are in document order."""
    found: list[_Element] = []
    for element in elements:
        if not any(parent is found[-1] for parent in element.iterancestors()) if found else True:
            found.append(element)
    return found


def _around(elements: list[_Element]) -> _Element:
    """The smallest element that holds all of them."""
    common = list(elements[0].iterancestors())
    for element in elements[1:]:
        around = set(element.iterancestors())
        common = [parent for parent in common if parent in around]
    return common[0]


def _rank(element: _Element) -> int | None:
    """Place of a known container among the others; None for any other element."""
    found = _RANKS.get(element.get("id") or "")
    names = element.get("class")
    if found is not None or not names:
        return found
    if names in _EXACT_CLASSES:
        return _RANKS[names]
    return min((_RANKS[name] for name in names.split() if name in _KNOWN_CLASSES), default=None)
