"""What is measured: words of the main content, as a person marked it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field

from lxml.etree import _Element

from crawler.page import Page

_WORD = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]|[^\W_\u3041-\u30ff\u3400-\u9fff]+")
_NUMBER = re.compile(r"^ *\d+\. ", re.MULTILINE)
_UNSEEN = "//script|//style|//template|//noscript|//svg|//head|//iframe|//audio|//video"

_INLINE_TAGS = """
a abbr acronym b bdi big cite code del dfn em font i ins kbd mark q s samp small span strong sub sup time tt u var wbr
"""


@dataclass(frozen=True)
class MarkedPage:
    url: str
    body: bytes
    gold: Counter[str]
    """How often each word stands in the marked content."""
    optional: Counter[str] = field(default_factory=Counter)
    """Words that may be read or not: the opening hours in the footer of every page."""


@dataclass(frozen=True)
class Score:
    """Of all pages of a set together: long pages weigh more."""

    found: int = 0
    right: int = 0
    wanted: int = 0

    def plus(self, found: Counter[str], page: MarkedPage) -> Score:
        right = (found & page.gold).total()
        wrong = (found - page.gold - page.optional).total()
        return Score(self.found + right + wrong, self.right + right, self.wanted + page.gold.total())

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def words(text: str) -> Counter[str]:
    """Folded to lower case; Chinese and Japanese characters count as words."""
    return Counter(_WORD.findall(text.lower()))


def words_of(page: Page) -> Counter[str]:
    """Headings once each, where they begin, and all blocks. A title counts where it is a heading too."""
    lines: list[str] = []
    before: tuple[str, ...] = ()
    for block in page.blocks:
        path = block.heading_path
        same = next((n for n, (a, b) in enumerate(zip(before, path, strict=False)) if a != b), None)
        begun = min(len(before), len(path)) if same is None else same
        # A term stands in the path and opens its block too: it is one word of the page.
        lines += [heading for heading in path[begun:] if not block.text.startswith(heading)]
        lines.append(_NUMBER.sub("", block.text) if block.kind == "list" else block.text)
        before = path
    return words("\n".join(lines))


def words_below(root: _Element, content: str, excluded: Iterable[str] = ()) -> Counter[str]:
    """Words below the elements that the XPath `content` finds, without those below `excluded`."""
    root = deepcopy(root)
    for path in (_UNSEEN, *excluded):
        for element in root.xpath(path):
            for child in list(element):
                element.remove(child)
            element.text = None
    return words("\n".join(_text(element) for element in root.xpath(content)))


def _text(element: _Element) -> str:
    """Inline elements do not end a word: <code>int</code>s."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str):
            edge = "" if child.tag in _INLINE_TAGS.split() else "\n"
            parts += (edge, _text(child), edge)
        parts.append(child.tail or "")
    return "".join(parts)
