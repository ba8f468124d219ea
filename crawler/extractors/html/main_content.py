"""Where the content of a page is, and what in it is no content: menus, banners, hidden elements."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lxml.etree import _Element

from crawler.discovery.urls import canonical
from crawler.extractors.text import HEADINGS, STRUCK_OUT, plain_text, text_length
from crawler.wordset import wordlist, wordset

_KNOWN_CLASSES = wordlist("main_content.known_classes")
_EXACT_CLASSES = wordlist("main_content.exact_classes")
_KNOWN = [*wordlist("main_content.known_ids"), *_KNOWN_CLASSES, *_EXACT_CLASSES]
_RANKS = {name: rank for rank, name in enumerate(_KNOWN)}
_LEAST_SHARE = 0.2
_LEAST_CHARACTERS = 60


def find_main(body: _Element) -> tuple[_Element, bool]:
    """The element that holds the content, and whether the page's own markup says so.

    A candidate that holds next to nothing of the page's text is a mistake of the template, and
    the next one is tried; in the end the whole body is taken. Menus do not count: those of a large site hold
    more text than many of its pages.
    """
    menus = _outermost(list(body.iter("nav")))
    size = text_length(body) - sum(map(text_length, menus))
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
    """The elements that are not inside another one. `elements` are in document order."""
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


_DROPPED_TAGS = wordset("main_content.dropped_tags")
_DROPPED_ROLES = wordset("main_content.dropped_roles")


def _names(*tables: str) -> re.Pattern[str]:
    """Return a pattern for any of these names of classes and ids, between white space, "-" and "_"."""
    names = "|".join(name for table in tables for name in wordlist(f"main_content.{table}"))
    return re.compile(rf"(?:^|[\s_-])(?:{names})(?:$|[\s_-])")


_CONTENTS = _names("contents")
_INLINE = _names("hard_inline", "spoken", "sharing")
_SPOKEN = _names("spoken")
_ASKING = _names("sharing", "asking")
_HARD = _names("hard_inline", "spoken", "hard_block")
_OFFICIAL = re.compile(rf"(?:^|\s)(?:{'|'.join(wordlist('main_content.official'))})(?:\s|$)")
_SOFT = _names("soft")
_CALLOUT = _names("callouts")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINK_TEXT = wordset("main_content.permalinks") | {""}
_CLASS_TESTED = wordset("main_content.class_tested")
_LONG_ENOUGH_TO_BE_CONTENT = 160
_MANY_LINKS = 40
"""A list of more links, and little else, is a table of contents or an index anywhere on the page."""
_LONGEST_NAMES = 400
_LONG_PROSE = 300
_FEW_LINKS = 3
_LONG_LINE = 100
"""Characters of a paragraph that no table of contents has."""
_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?:$|[\s_-])")
LONGEST_LEAD = 60
"""Characters of the line above a table of contents, such as "Jump to a section:"."""
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Links:
    """The links below an element."""

    count: int
    characters: int
    local: int
    """Links within this page."""


@dataclass(eq=False)
class Boilerplate:
    """Separates the content of one page from the rest. `drops` is called once for each element."""

    root: _Element
    trusted: bool
    """Whether the page's own markup says that `root` is its main content."""
    lenient: bool = False
    """Whether lists of links pass, for pages that hold nothing else."""
    panels: Collection[_Element] = frozenset()
    """Content although hidden."""
    url: str = ""
    """The page's address."""

    def __post_init__(self) -> None:
        self._size = max(1, text_length(self.root))
        self._links = _links_below(self.root)

    def drops(self, element: _Element) -> bool:
        """Return whether `element`, with everything below it, is no content."""
        tag = element.tag
        if tag in _DROPPED_TAGS:
            # The footer of a quotation says whose words they are.
            return tag != "footer" or next(element.iterancestors("blockquote"), None) is None
        if tag in STRUCK_OUT:
            # A change of code shows both lines, and a cancelled event is named by its heading.
            return next(element.iterancestors("pre", "code", *HEADINGS), None) is None
        if self.panels and element in self.panels:
            return False
        items = element.items()
        if items and self._drops_by_attributes(element, tag, items):
            return True
        if tag == "aside":
            return not is_callout(element)
        if tag == "header":
            return not self.trusted and element.getparent() is self.root
        if tag == "form":
            return text_length(element) < 300
        if tag == "a":
            return _is_permalink(element)
        if tag == "label":
            return next(element.iter(*_FIELDS), None) is not None
        return tag in _LISTS and not self.lenient and self._is_contents(element)

    def leads_up(self, link: _Element) -> bool:
        """Return whether a link leads to a page above this one, or to its top, as "Back" does."""
        href = (link.get("href") or "").strip()
        if not href or not self.url:
            return False
        target = canonical(href, self.url) or ""
        return href.startswith("#") or (target != self.url and self.url.startswith(target.rstrip("/") + "/"))

    def is_link_list(self, element: _Element) -> bool:
        """Return whether `element` is a list of short links on a page that does not mark its main content.

        Such a list is a menu at the edge of the page, and content between texts.
        """
        if self.trusted or self.lenient or element.tag not in _LISTS:
            return False
        return self._mostly_links(element, self._links.get(element))

    def _drops_by_attributes(
        self, element: _Element, tag: str, items: Sequence[tuple[object, object]]
    ) -> bool:
        names = ""
        for name, value in items:
            if name == "class" or (name == "id" and not _names_section(element, tag)):
                names += f" {value}"
            elif name in _DECIDING and (name == "data-nosnippet" or _is_hidden(element)):
                return True
        if not names or tag not in _CLASS_TESTED:
            return False
        verdict = _verdict(names[:_LONGEST_NAMES], tag in _INLINE_TAGS)
        if verdict == "official":
            return True
        if not verdict or (verdict == "contents" and self.lenient) or _says_number(element, names):
            return False
        links = self._links.get(element)
        density = links.characters / max(1, text_length(element)) if links else 0.0
        if text_length(element) > self._size // 2 and (density < 0.7 or self.lenient):
            return False  # a wrapper such as "page has-nav" holds the content itself
        if verdict == "asking":
            return self._asks(element, links)
        if verdict == "contents":
            return not _has_prose(element)
        return verdict != "soft" or (density > 0.5 and not _announces(element, links))

    def _asks(self, element: _Element, links: Links | None) -> bool:
        """Return whether there is something to click or fill in; links in long prose do not count."""
        if next(element.iter("button", "form", "iframe", *_FIELDS), None) is not None:
            return True
        prose = text_length(element) - (links.characters if links else 0) >= _LONG_PROSE
        return links is not None and (not prose or any(map(_is_button, element.iter("a"))))

    def _is_contents(self, element: _Element) -> bool:
        """Return whether this is a table of contents: links within the page, or very many links."""
        links = self._links.get(element)
        if links is None or (links.local < links.count - 1 and links.count < _MANY_LINKS):
            return False
        if links.count < _MANY_LINKS and _is_announced(element):
            return False
        if element.tag == "p" and links.characters > 3 * links.count:
            return False  # a sentence that names its neighbours; "A | B | C" is contents
        return self._mostly_links(element, links)

    def _mostly_links(self, element: _Element, links: Links | None) -> bool:
        if links is None or links.count < 3:
            return False
        if links.characters / links.count > (200 if links.local == links.count else 60):
            return False
        if _has_prose(element) or (
            element.tag in _WRAPPERS and next(element.iter("h1", "h2"), None) is not None
        ):
            return False  # the contents of a book and its preface share a wrapper
        text = plain_text(element)
        letters = sum(map(str.isalnum, text)) if len(text) < 2000 else text_length(element)
        return links.characters / max(1, letters) > 0.75


_INLINE_TAGS = frozenset({"a", "span", "small", "sup", "em", "strong", "i", "b", "label", "h2", "h3", "h4"})
_LISTS = frozenset({"ul", "ol", "dl", "div", "p", "section", "table", "menu"})
_WRAPPERS = frozenset({"div", "section", "table"})
_COUNTED = _LISTS | {"aside", "header", "form", "td", "li", "figure", "center", "span"}
_FIELDS = ("input", "select", "textarea")
_SECTIONS = frozenset({"section", "h2", "h3", "h4"})
_NOT_LEADING = ("mailto:", "tel:")
"""Beginnings of links that are facts, not navigation."""
_DECIDING = frozenset({"role", "hidden", "style", "aria-hidden", "data-nosnippet"})


def _announces(element: _Element, links: Links | None) -> bool:
    """Return whether a heading says a date or a price next to a few buttons, as no menu does."""
    if links is None or links.count > _FEW_LINKS:
        return False
    headings = (one for one in element.iter(*HEADINGS) if next(one.iterancestors("a"), None) is None)
    return any(_DIGIT.search(plain_text(one)) and next(one.iter("a"), None) is None for one in headings)


def _has_prose(element: _Element) -> bool:
    return any(text_length(piece) > _LONG_LINE for piece in element.iter("p"))


def _is_button(link: _Element) -> bool:
    return (link.get("href") or "").startswith("#") or bool(_BUTTON.search(link.get("class") or ""))


def _is_announced(element: _Element) -> bool:
    """Return whether a sentence ends with a colon before this list: its items are what the sentence says."""
    before = element.getprevious()
    if element.tag not in ("ul", "ol") or before is None or before.tag != "p" or (before.tail or "").strip():
        return False
    said = plain_text(before).strip()
    return len(said) > LONGEST_LEAD and said.endswith((":", "："))


def _names_section(element: _Element, tag: object) -> bool:
    """Return whether the id is made from a heading: the heading "social-event" is no row of buttons."""
    return tag in _SECTIONS or "sect" in (element.get("class") or "")


def is_callout(element: _Element) -> bool:
    """Return whether this is a note, tip or the like, which is content even in an <aside>."""
    names = f"{element.get('class') or ''} {element.get('role') or ''}".lower()
    return _CALLOUT.search(names) is not None or "doc-tip" in names or "doc-notice" in names


@lru_cache(maxsize=20_000)
def _verdict(names: str, inline: bool) -> str:
    lowered = names.lower()
    if inline:
        return "hard" if _INLINE.search(lowered) else ""
    if _OFFICIAL.search(lowered):
        return "official"
    if _HARD.search(lowered):
        return "hard"
    if _ASKING.search(lowered):
        return "asking"
    if _CONTENTS.search(lowered):
        return "contents"
    return "soft" if _SOFT.search(lowered) and not _CALLOUT.search(lowered) else ""


def _is_hidden(element: _Element) -> bool:
    """Return whether `element` is hidden or has a role that is not content.

    Panels of tabs and folded sections are hidden until somebody opens them: they are content.
    """
    role = element.get("role")
    if role in _DROPPED_ROLES or (role == "complementary" and not is_callout(element)):
        return True
    hidden, style = element.get("hidden"), element.get("style")
    if (hidden is not None and hidden != "until-found") or (style and _HIDDEN_STYLE.search(style)):
        return role != "tabpanel"
    return element.get("aria-hidden") == "true" and text_length(element) < _LONG_ENOUGH_TO_BE_CONTENT


def is_spoken(element: _Element) -> bool:
    """Return whether an element is for screen readers only, by its class."""
    return _SPOKEN.search((element.get("class") or "").lower()) is not None


def _says_number(element: _Element, names: str) -> bool:
    """Return whether a screen reader says this instead of a number that is hidden from it, as in shops made
    with WooCommerce: "Current price is: 15 €". The number itself is left out."""
    if not _SPOKEN.search(names):
        return False
    beside = (one for one in (element.getprevious(), element.getnext()) if one is not None)
    return any(one.get("aria-hidden") == "true" and _DIGIT.search(plain_text(one)) for one in beside)


def _is_permalink(link: _Element) -> bool:
    text = plain_text(link).strip().lower()
    if text not in _PERMALINK_TEXT:
        return False
    if not text and (link.get("aria-label") or next(link.iter("img"), None) is not None):
        return (link.get("href") or "#").startswith("#")
    return not text or text.startswith("[") or (link.get("href") or "").startswith("#")


def _links_below(root: _Element) -> dict[_Element, Links]:
    """Link counts of all elements for which they are needed, in one pass from end to beginning."""
    counts: dict[_Element, list[int]] = {}
    for element in reversed(list(root.iter("a", *_COUNTED))):
        if element is root:
            break
        if element.tag == "a":
            href = element.get("href")
            if not href or href.startswith(_NOT_LEADING):
                continue
            length = text_length(element) if len(element) else len((element.text or "").strip())
            entry = [1, length, href.startswith("#")]
        elif element in counts:
            entry = counts[element]
        else:
            continue
        parent = element.getparent()
        while parent is not None and parent is not root and parent.tag not in _COUNTED:
            parent = parent.getparent()
        if parent is not None:
            total = counts.setdefault(parent, [0, 0, 0])
            for index, value in enumerate(entry):
                total[index] += value
    return {element: Links(*entry) for element, entry in counts.items()}
