"""Text of an HTML page to lxml's tree, with what its author keeps from search marked in it."""

from __future__ import annotations

import re

from lxml import etree
from lxml.etree import _Element

_LONG = 20_000
_LONG_TAG = re.compile(rf"<[^<>]{{{_LONG},}}")
_MOST_ATTRIBUTES = 2000
_KEPT_OUT = re.compile(
    r"<!--\s*googleoff:\s*(?:index|snippet|all)\s*-->(.*?)<!--\s*googleon:\s*(?:index|snippet|all)\s*-->"
    r"|<!--\s*noindex\s*-->(.*?)<!--\s*/noindex\s*-->",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS = re.compile(
    r"<(?:p|div|ul|ol|dl|table|h[1-6]|section|article|form|nav|header|footer|pre)\b", re.IGNORECASE
)


def parse(text: str) -> _Element:
    """The tree's root. Bytes go in: lxml refuses text that declares an encoding."""
    # huge_tree: without it everything after the 256th unclosed <font> would be lost. The size of a
    # page is limited before it comes here.
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    long = max(map(len, text.split("<"))) > _LONG
    markup = _LONG_TAG.sub(_without_excess, text) if long else text
    if "googleoff" in markup or "/noindex" in markup:
        markup = _KEPT_OUT.sub(_marked, markup)
    root = etree.fromstring(markup.encode("utf-8", "replace"), parser) if text.strip() else None
    return etree.Element("html") if root is None else root


def _without_excess(tag: re.Match[str]) -> str:
    """The parser's time grows with the square of a tag's attributes: tens of thousands are an attack."""
    return tag[0] if len(tag[0].split()) < _MOST_ATTRIBUTES else "<p"


def _marked(part: re.Match[str]) -> str:
    """Comments around a part become an element, so that its links are still found."""
    inner = part[1] if part[1] is not None else part[2]
    tag = "div" if _BLOCKS.search(inner) else "span"
    return f"<{tag} data-nosnippet>{inner}</{tag}>"
