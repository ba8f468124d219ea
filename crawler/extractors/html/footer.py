"""Facts in footers and asides: address, telephone, e-mail, opening hours, registration numbers.

A footer is on every page, and an <aside> is mostly links and advertisements, so most of both is no content.
The lines that visitors ask for may be nowhere else: they are read below the headings of the footer or aside,
and the site's template keeps them on one page.
"""

import re
from copy import deepcopy

from lxml.etree import _Element

from crawler.extractors.hours import tells_hours
from crawler.extractors.html.blocks import read_blocks
from crawler.extractors.html.main_content import Boilerplate
from crawler.extractors.text import text_length
from crawler.page import Block

_TAGS = frozenset({"footer", "aside"})
_ROLES = frozenset({"contentinfo", "complementary"})
_NAMES = re.compile(r"(?:^|[\s_-])(?:site|page|global|main)?-?footer(?:$|[\s_-])", re.IGNORECASE)
_FACT = re.compile(
    r"[\w.+-]+@[\w-]+\.\w"  # an e-mail address
    r"|\+?\d[\d ()/.-]{5,}\d"  # a telephone number, or a number of registration
    r"|\d{1,2}[:.h]\d\d|\d ?[ap]\.?m\b|\b\d{1,2} ?uhr\b"  # opening hours
    r"|\b(?:no|nr|№)\.? ?\d{3,}",
    re.IGNORECASE,
)
_POSTAL = re.compile(
    r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"  # United Kingdom
    r"|\b(?:\d{5}|\d{3} \d{2}) [A-Z][^\W\d]{2,}|(?:\d[a-z]?|,) \d{4} [A-Z][^\W\d]{2,}"  # most of Europe
    r"|,? [A-Z]{2},? \d{5}\b|\b\d{5}-\d{3}\b|〒 ?\d{3}-\d{4}"  # United States, Brazil, Japan
)
"""A town with its postal code."""
_NO_FACT = re.compile(r"(?:19|20)\d\d ?[-–/] ?(?:19|20)?\d\d|\d{4}-\d\d-\d\d|\d+(?:\.\d+){2,}", re.IGNORECASE)
"""Years of a copyright, dates and versions, which look like numbers to call."""
_LONGEST = 300
"""Characters of a line; longer ones are prose."""
_LARGEST = 6_000
"""Characters of a footer; what is larger is the page itself under a wrong name."""


def footer_facts(root: _Element) -> tuple[Block, ...]:
    """Return the lines of the page's footer and asides that hold a fact, as blocks below their headings."""
    found: list[Block] = []
    for footer in _footers(root):
        whole = deepcopy(footer)
        whole.tag = "div"
        whole.attrib.clear()
        for block in read_blocks(whole, Boilerplate(whole, trusted=True, lenient=True)):
            found.extend(_facts(block))
    return tuple(dict.fromkeys(found))


def _footers(root: _Element) -> list[_Element]:
    """Return the outermost footers and asides that are not part of an article."""
    found: list[_Element] = []
    for element in root.iter("footer", "aside", "div", "section", "address"):
        if not _is_footer(element) or text_length(element) > _LARGEST:
            continue
        above = set(element.iterancestors())
        if not above.intersection(found) and not any(one.tag == "article" for one in above):
            found.append(element)
    return found


def _is_footer(element: _Element) -> bool:
    if element.tag in _TAGS or element.get("role") in _ROLES:
        return True
    return bool(_NAMES.search(f"{element.get('id') or ''} {element.get('class') or ''}"))


def _facts(block: Block) -> list[Block]:
    """Return the block with its lines that hold a fact; an address is whole or not there."""
    if block.kind == "code":
        return []
    short = [line for line in block.text.split("\n") if len(line) <= _LONGEST]
    if block.kind == "text" or sum(map(tells_hours, short)) * 2 <= len(short):
        short = [line for line in short if _is_fact(_NO_FACT.sub("", line))]
    lines = short  # hours are whole, with "Sunday: closed"
    return [Block("\n".join(lines), block.heading_path, block.kind, block.anchor)] if lines else []


def _is_fact(line: str) -> bool:
    return bool(_FACT.search(line) or _POSTAL.search(line)) or tells_hours(line)
