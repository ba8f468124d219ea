"""Where on a page its content stands."""

from __future__ import annotations

from lxml.etree import XPath, _Element

from crawler.extractors.text import text_length

# Containers that frameworks and documentation tools put a page's content in, best first.
_KNOWN = tuple(
    XPath(path)
    for path in (
        "//*[@id='mw-content-text']",
        "//*[contains(concat(' ', @class, ' '), ' markdown-body ')]",
        "//*[contains(concat(' ', @class, ' '), ' theme-doc-markdown ')]",
        "//*[contains(concat(' ', @class, ' '), ' rst-content ')]",
        "//*[contains(concat(' ', @class, ' '), ' entry-content ')]",
        "//*[contains(concat(' ', @class, ' '), ' post-content ')]",
        "//*[contains(concat(' ', @class, ' '), ' article-content ')]",
        "//*[@itemprop='articleBody']",
        "//*[@id='main-content' or @id='maincontent' or @id='page-content']",
        "//*[@id='content' or @id='main']",
        "//div[@class='body' or @class='document' or @class='content' or @class='main-content']",
    )
)
_MAIN = XPath("//main | //*[@role='main']")
_ARTICLES = XPath("//article[not(ancestor::article)]")
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


def _candidates(body: _Element) -> list[tuple[_Element, bool]]:
    found: list[tuple[_Element, bool]] = []
    mains = _elements(_MAIN, body)
    if mains:
        found.append((max(mains, key=text_length), True))
    articles = _elements(_ARTICLES, body)
    if len(articles) == 1:
        found.append((articles[0], True))
    for path in _KNOWN:
        matches = _elements(path, body)
        if matches:
            found.append((max(matches, key=text_length), False))
    return found


def _elements(path: XPath, body: _Element) -> list[_Element]:
    result = path(body)
    return [item for item in result if isinstance(item, _Element)] if isinstance(result, list) else []
