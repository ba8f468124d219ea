"""Links that make the browser scroll to a quote and mark it.

Follows URL Fragment Text Directives, https://wicg.github.io/scroll-to-text-fragment/:
`#anchor:~:text=[prefix-,]start[,end][,-suffix]`. Matching is by whole words, and one term must
stand within one block of the page, so a quote over several blocks is given by its two ends.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urldefrag

_EXACT = 90
"""Longest quote, in characters, that is given whole; longer ones by their first and last words."""
_ENDS = 4
"""Words taken from each end."""


def text_fragment_link(url: str, quoted: str, page_text: str = "", anchor: str = "") -> str:
    """`url` with a text directive for `quoted`, words verbatim from the page.

    `quoted` may hold tabs (table cells) and line ends (list items, paragraphs), which end a block.
    `page_text` is the page's text; where the quote's start stands there more than once, the words
    before it are added as a prefix. Without words to quote, the plain address is returned.
    """
    blocks = [" ".join(block.split()) for block in re.split(r"[\t\n]+", quoted)]
    blocks = [block for block in blocks if block]
    base = urldefrag(url).url
    if not blocks:
        return f"{base}#{_fragment(anchor)}" if anchor else base
    start, end = _ends(blocks)
    directive = _encode(start) + (f",{_encode(end)}" if end else "")
    prefix = _prefix(start, " ".join(blocks), page_text)
    if prefix:
        directive = f"{_encode(prefix)}-,{directive}"
    return f"{base}#{_fragment(anchor)}:~:text={directive}"


def _fragment(anchor: str) -> str:
    # "page=3" of a PDF is read by the viewer, which does not decode it.
    return quote(anchor, safe="=")


def _ends(blocks: list[str]) -> tuple[str, str]:
    if len(blocks) == 1 and len(blocks[0]) <= _EXACT:
        return blocks[0], ""
    first, last = blocks[0].split(" "), blocks[-1].split(" ")
    if len(blocks) == 1 and len(first) <= 2 * _ENDS:
        return blocks[0], ""  # few but long words, or a script without spaces
    start = " ".join(first[:_ENDS]) if len(first) > _ENDS else blocks[0]
    end = " ".join(last[-_ENDS:]) if len(last) > _ENDS else blocks[-1]
    return start, end


def _prefix(start: str, whole: str, page_text: str) -> str:
    """The words before the quote, if its start alone would match another place of the page."""
    lines = [" ".join(line.split()) for line in re.split(r"[\t\n]+", page_text)]
    folded = " ".join(line for line in lines if line)
    if folded.count(start) < 2:
        return ""
    place = folded.find(whole)
    before = folded[: max(place, 0)].split(" ")
    words = [word for word in before[-3:] if word]
    return " ".join(words) if words and not words[-1].startswith(("-", "```")) else ""


def _encode(term: str) -> str:
    # "-", "," and "&" have a meaning of their own in the directive.
    return quote(term, safe="").replace("-", "%2D")
