"""The walk: from the element that holds the content to blocks, in reading order.

1. Text and inline elements gather until a block element begins or ends; then they are a paragraph.
2. Headings move the outline; so do the terms of long definition lists and the summaries of
   <details>, because a reader finds the text below under their name.
3. Lists, tables and code become one block each, in the line conventions of `crawler.page`. Lists and
   tables that only hold other blocks in place are walked like any container.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice

from lxml.etree import _Element

from crawler.extractors.html.lists_and_tables import (
    RepeatBudget,
    definition_lines,
    ends_paragraph,
    is_compact,
    is_data_table,
    is_plain_list,
    list_lines,
    list_parts,
    marker_of,
    table_lines,
    term_name,
)
from crawler.extractors.html.main_content import LONGEST_LEAD, Boilerplate, is_callout
from crawler.extractors.language import primary_language
from crawler.extractors.outline import LONGEST_HEADING, Outline, anchor_of
from crawler.extractors.text import (
    APART,
    BLOCK_TAGS,
    HEADINGS,
    code_text,
    fold,
    plain_text,
    raw_text,
    text_length,
)
from crawler.page import PICTURE, Block, BlockKind
from crawler.wordset import wordset

_DEEPEST = 120
_TERM_LEVEL = 7
_REAL_TEXT = 60
_CALLOUTS = frozenset({"div", "section", "aside", "blockquote", "details", "table"})
_LABELS = wordset("blocks.labels")
"""Titles of notes that say nothing of their subject."""
_LONGEST_LABEL = 20
_CONTENTS = wordset("blocks.contents_titles")
_NAMELESS = wordset("blocks.nameless_pictures")
"""Alternative texts that name nothing."""
_TITLE = re.compile(r"(?:^|[\s_-])(?:title|heading|label)(?:$|\s)")
_CARD_TITLE = re.compile(r"(?:^|[\s_-])(?:title|heading|header|headline|question)(?:$|\s)")
_CARDS = frozenset({"div", "article", "section", "a"})
_CARD_PARENTS = frozenset({"div", "section", "main", "article"})
_NAMED = frozenset({"a", "span", "i"})
_SHORT_LINK = 30
"""Most characters of a paragraph that is navigation if all of it is a link to a page above."""
_TELLING = 20
"""Characters from which on the name of a picture tells something."""
_LONGEST_BOLD = 80
_WORD = re.compile(r"\w+")
_FILE_NAME = re.compile(r"\S*[./_]\S*$")
_PICTURE_FILE = re.compile(r"\.(?:avif|gif|jpe?g|png|svg|webp)(?:[?#]|$)", re.IGNORECASE)
_LOGO = re.compile(r"logo|sponsor|partner", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
"""In the class of a card it is its place: "card card2"."""
_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?:$|[\s_-])")
_SAYS_LOGO = re.compile(r"^logo\s+|\W*\blogo$", re.IGNORECASE)
_SLUG = re.compile(r"[a-z\d]+(?:[-_][a-z\d]+)+")
_SAYS_VALUE = re.compile(r"\w: *\w")
ASKS = ("?", "？", "؟")
_ENDS = (".", "!", "。", "！")
"""Of a sentence, not of the heading of a menu or form ("Was this page helpful?")."""
_SCOPED = frozenset({"blockquote", "figure", "li", "dd", "td", "th", "tr", "aside", "fieldset"})
_LENDING = frozenset({"td", "th"})
"""A heading alone in a cell heads the rest of its row."""


def read_blocks(
    main: _Element, boilerplate: Boilerplate, panels: Mapping[_Element, str] | None = None
) -> tuple[Block, ...]:
    """All content below `main`; `panels` are its tabs and folded sections with their labels."""
    walk = _Walk(boilerplate, panels or {})
    walk.container(main, 0)
    walk.end()
    return tuple(_without_menus(walk.blocks, walk.linkish))


class _Walk:
    def __init__(self, boilerplate: Boilerplate, panels: Mapping[_Element, str]) -> None:
        self.blocks: list[Block] = []
        self.linkish: set[int] = set()
        """Positions of blocks that are lists of links."""
        self._drops = boilerplate.drops
        self._panels = panels
        self._repeats = RepeatBudget()
        self._is_link_list = boilerplate.is_link_list
        self._leads_up = boilerplate.leads_up
        self._outline = Outline(self._heading_alone)
        self._inline: list[str] = []
        self._linked = 0
        """Characters of the current paragraph that are in links to pages above this one."""
        self._marker = ""
        self._callouts = 0
        self._ended = False
        self._alternative: Block | None = None
        """The block made from the last alternative text."""
        self._logos: Block | None = None
        """The block of the last logos."""
        self._bold: dict[_Element, frozenset[_Element]] = {}
        self._in_links = False
        self._language = self._declared = ""
        self._handlers: dict[str, Callable[[_Element, int], None]] = {
            "pre": self._code,
            "listing": self._code,
            "ul": self._list,
            "ol": self._list,
            "menu": self._list,
            "dir": self._list,
            "dl": self._definitions,
            "table": self._table,
            "details": self._details,
            "img": self._image,
            "br": self._line_break,
            **dict.fromkeys(HEADINGS, self._heading),
        }

    def container(self, element: _Element, depth: int) -> None:
        """Walk the content of `element`."""
        if depth > _DEEPEST:  # only hostile pages are so deep; they must not exhaust the stack
            self._inline.append(plain_text(element))
            return
        if element.text:
            self._inline.append(element.text)
        cards = _cards(element)
        for child in element:
            if child in cards:
                self._card(child, depth)
            elif isinstance(child.tag, str):
                self._element(child, depth)
            if child.tail:
                self._inline.append(child.tail)
        if self._bold.get(element):
            self.flush()
            self._outline.end_minor()

    def _card(self, element: _Element, depth: int) -> None:
        self.flush()
        with self._outline.card():
            self._element(element, depth)
            self.flush()

    def flush(self) -> None:
        """End the current paragraph."""
        text = fold("".join(self._inline))
        linked, self._linked = self._linked, 0
        self._inline.clear()
        if text and any(map(str.isalnum, text)):
            if len(text) <= _SHORT_LINK and linked * 10 >= len(text) * 9:
                self.linkish.add(len(self.blocks))  # "Back to all posts"
            self._paragraph(text)

    def end(self) -> None:
        """End the page."""
        self.flush()
        self._ended = True
        self._outline.end()

    def _paragraph(self, text: str) -> None:
        marker, self._marker = self._marker, ""
        self._add(marker + text, "list" if marker else "text")

    def _heading_alone(self, heading: str) -> None:
        """Read a heading with nothing under it as text, such as a name on a card. At the top of the page it
        is a logo, at the end that of a menu or of comments unless it is a sentence or gives what it names
        ("Date: 7 June"), and is left out."""
        says = not self._ended or heading.endswith(_ENDS) or _SAYS_VALUE.search(heading)
        if (self.blocks or self._outline.path) and says:
            self._paragraph(heading)

    def _add(self, text: str, kind: BlockKind) -> None:
        self._outline.use()
        self._remove_repeated(text)
        self.blocks.append(Block(text, self._outline.path, kind, self._outline.anchor, self._language))

    def _add_lines(self, lines: list[str], kind: BlockKind) -> None:
        if lines:
            self._add("\n".join(lines), kind)

    def _element(self, element: _Element, depth: int) -> None:
        tag = element.tag
        if self._drops(element):
            if tag in BLOCK_TAGS:
                self.flush()
                if _leads_within_page(element):
                    self._remove_contents_title(element)
                if text_length(element):
                    self._outline.use()  # the heading of a menu goes with it
            elif tag in APART:
                self._inline.append(" ")
            return
        if element.get("lang", self._declared) != self._declared and tag in BLOCK_TAGS:
            self._in_language(element, depth)
        else:
            self._shown(element, tag, depth)

    def _remove_contents_title(self, contents: _Element) -> None:
        """Remove the title or the lead ("Jump to a section:") of a table of contents."""
        before, last = contents.getprevious(), self.blocks[-1] if self.blocks else None
        if before is not None and before.tag == "p" and last is not None and last.kind == "text":
            is_lead = len(last.text) <= LONGEST_LEAD and last.text == fold(plain_text(before))
            if is_lead and (last.text.endswith((":", "：")) or _names_contents(last.text)):
                self.linkish.discard(len(self.blocks) - 1)
                self.blocks.pop()
        if self._outline.path and _names_contents(self._outline.path[-1]):
            self._outline.remove_unused()

    def _shown(self, element: _Element, tag: str, depth: int) -> None:
        if not self._in_links and self._is_link_list(element):
            self._links(element, depth)
            return
        handler = self._panel if self._panels.get(element) else self._handlers.get(tag)
        if tag in _CARDS and element in self._panels and self._is_below_its_heading(element):
            self.flush()
            with self._outline.opened():
                self._block(element, depth)
        elif handler is not None:
            handler(element, depth)
        elif tag not in BLOCK_TAGS:
            if tag in _NAMED and not text_length(element) and self._wordless(element):
                return
            self._inline_element(element, depth)
        elif tag in _CALLOUTS and is_callout(element) and _has_one_title(element):
            self._callouts += 1
            self._scoped(element, depth)
            self._callouts -= 1
        elif self._callouts and (_is_label(element) or _says_only_label(element)):
            self._label(element)
        elif tag in _SCOPED:
            self._scoped(element, depth)
        elif tag == "p" and (bold := self._bold_headings(element.getparent())):
            self._below_bold(element, bold, depth)
        else:
            self._block(element, depth)

    def _is_below_its_heading(self, panel: _Element) -> bool:
        """Return whether the last heading of the page is the one right before a panel without a label."""
        before = panel.getprevious()
        if self._panels[panel] or before is None or not self._outline.path:
            return False
        headings = (before,) if before.tag in HEADINGS else before.iter(*HEADINGS)
        return any(fold(plain_text(heading)) == self._outline.path[-1] for heading in headings)

    def _bold_headings(self, parent: _Element | None) -> frozenset[_Element]:
        """Return the bold paragraphs of `parent` that serve as headings. One alone may be anything."""
        if parent is None:
            return frozenset()
        if parent not in self._bold:
            found = frozenset(child for child in parent.iterchildren("p") if _is_bold_heading(child))
            self._bold[parent] = found if len(found) > 1 else frozenset()
        return self._bold[parent]

    def _below_bold(self, element: _Element, bold: frozenset[_Element], depth: int) -> None:
        if element in bold:
            self.flush()
            self._outline.push_minor(fold(plain_text(element)), anchor_of(element) or self._outline.anchor)
            return
        if begins_with_label(element) or (_bold(element) and fold(plain_text(element)).endswith(ASKS)):
            self._outline.end_minor()  # a question that nobody has answered yet is not below the one before
        self._block(element, depth)

    def _inline_element(self, element: _Element, depth: int) -> None:
        if element.tag == "a" and _BUTTON.search(element.get("class") or ""):
            self._inline.append(" ")  # a button stands apart from the words before it
        before, first = len(self._inline), len(self.blocks)
        self.container(element, depth + 1)
        if element.tag == "a" and self._leads_up(element):
            self._linked += sum(len(fold(part)) for part in self._inline[before:])
            if text_length(element) <= _SHORT_LINK:  # a logo in blocks of its own
                name = fold(plain_text(element))
                added = range(first, len(self.blocks))
                self.linkish.update(place for place in added if self.blocks[place].text in name)

    def _in_language(self, element: _Element, depth: int) -> None:
        self.flush()
        before = self._language, self._declared
        self._declared = element.get("lang") or ""
        self._language = primary_language(self._declared)
        self._shown(element, str(element.tag), depth)
        self.flush()
        self._language, self._declared = before

    def _links(self, element: _Element, depth: int) -> None:
        self.flush()
        first, self._in_links = len(self.blocks), True
        self._element(element, depth)
        self.flush()
        self._in_links = False
        self.linkish.update(range(first, len(self.blocks)))

    def _block(self, element: _Element, depth: int) -> None:
        self.flush()
        self.container(element, depth + 1)
        self.flush()

    def _scoped(self, element: _Element, depth: int) -> None:
        self.flush()
        with self._outline.scope(lends=element.tag in _LENDING):
            self._block(element, depth)

    def _heading(self, element: _Element, depth: int) -> None:
        if self._callouts:
            self._label(element)
            return
        self.flush()
        text = fold(raw_text(element, self._drops))
        if len(text) > LONGEST_HEADING:
            self._paragraph(text)
        elif any(map(str.isalnum, text)):
            self._remove_repeated(text)
            self._outline.push(int(element.tag[1]), text, anchor_of(element))
            if element.tag != "h1" and _names_contents(text):
                # The table of contents is left out, or made by a script: what follows is not of its heading.
                self._outline.remove_unused()

    def _label(self, element: _Element) -> None:
        """Read the title of a note, which is a heading if it is more than one word such as "Note"."""
        self.flush()
        text = fold(raw_text(element, self._drops))
        if text and _bare_label(text) not in _LABELS:
            self._outline.push(_TERM_LEVEL, text, anchor_of(element) or self._outline.anchor)

    def _code(self, element: _Element, depth: int) -> None:
        self.flush()
        lines = [line.rstrip() for line in code_text(element, self._drops).splitlines()]
        if code := "\n".join(lines).strip("\n"):
            self._add(code, "code")

    def _list(self, element: _Element, depth: int) -> None:
        self.flush()
        if is_plain_list(element) and text_length(element):
            self._add_lines(list_lines(element, self._drops), "list")
            return
        number = 0
        for item in list_parts(element, self._drops):
            if isinstance(item, str):
                self._paragraph(item)
            elif item.tag != "li":
                self._element(item, depth + 1)
                self.flush()
            else:
                first = len(self.blocks)
                self._marker = marker_of(element, item, number)
                self._scoped(item, depth + 1)
                self._marker = ""
                self.blocks[first:] = _joined_item(self.blocks[first:])
                number += 1

    def _definitions(self, element: _Element, depth: int) -> None:
        self.flush()
        if is_compact(element):
            self._add_lines(definition_lines(element, self._drops), "list")
            return
        with self._outline.scope():
            for child in element.iter("dt", "dd"):
                if child.getparent() is element or _wrapped_in(child, element):
                    self._definition(child, depth)

    def _definition(self, element: _Element, depth: int) -> None:
        if self._drops(element):
            return
        if element.tag == "dd":
            self._scoped(element, depth + 1)
            return
        text = fold(raw_text(element, self._drops))
        if text:
            self._outline.push(_TERM_LEVEL, term_name(text), anchor_of(element) or self._outline.anchor)
            self._add(text, "text")

    def _table(self, element: _Element, depth: int) -> None:
        self.flush()
        if not is_data_table(element):
            with self._outline.scope():
                for header in element.findall("thead"):
                    name = fold(raw_text(header, self._drops))
                    if name and len(list(header.iter("td", "th"))) == 1:
                        self._outline.push(_TERM_LEVEL, name, self._outline.anchor)
                    header.clear()  # names of columns, which are not read as columns
                self._block(element, depth)
            return
        for caption in element.iterchildren("caption"):
            self._block(caption, depth)
        self._add_lines(table_lines(element, self._drops, self._repeats), "table")

    def _panel(self, element: _Element, depth: int) -> None:
        self.flush()
        with self._outline.scope():
            anchor = element.get("id") or self._outline.anchor
            self._outline.push(_TERM_LEVEL, self._panels[element], anchor)
            self._block(element, depth)

    def _details(self, element: _Element, depth: int) -> None:
        self.flush()
        self._outline.end_lent()
        with self._outline.scope(lends=True):
            summary = element.find("summary")
            if summary is not None:
                heading = fold(raw_text(summary, self._drops))
                if heading:
                    within = (one.get("id", "") for one in summary.iter(*HEADINGS))
                    anchor = element.get("id") or anchor_of(summary) or next(filter(None, within), "")
                    anchor = anchor or self._outline.anchor
                    self._outline.push(_TERM_LEVEL, heading, anchor)
                for paragraph in summary.iter("p"):
                    self._block(paragraph, depth)
                summary.tag = "template"  # already read: the walk leaves it out
            self._block(element, depth)

    def _line_break(self, element: _Element, depth: int) -> None:
        self._inline.append(" ")
        if ends_paragraph(element):
            self._linked = 0  # the title of what follows is no navigation
            self.flush()

    def _image(self, element: _Element, depth: int) -> None:
        """Add a meaningful alternative text as a paragraph of its own, so that invisible words do not
        break a sentence of the page."""
        if self._logo(element):
            return
        alt = fold(element.get("alt") or "")
        if len(alt) < _TELLING or " " not in alt or "".join(self._inline).strip():
            return
        self.flush()
        before = self.blocks[-1].text if self.blocks else ""
        if not any(_begins_with(text, alt) for text in (before, *self._outline.path[-1:])):
            self._add(PICTURE + alt, "text")
            self._alternative = self.blocks[-1]

    def _logo(self, element: _Element) -> bool:
        """Add the name of a logo, or of a link that is only a picture, to a list. Return whether it is one.

        Such names are often all that a page says of sponsors and partners: under a heading, after "Supported
        by:", or in a row of pictures that the page calls logos."""
        if "".join(self._inline).strip():
            return False
        name, is_called_so = _name_of_logo(element)
        last = self.blocks[-1] if self.blocks else None
        path = self._outline.path
        goes_on = last is not None and last is self._logos and last.heading_path == path
        is_led = self._outline.is_bare or (last is not None and last.text.endswith((":", "：")))
        if (
            not name
            or name.casefold() in map(str.casefold, path[-1:])
            or not (path or last)
            or not (goes_on or is_called_so or (is_led and element.tag == "a"))
        ):
            return False
        self.flush()
        line = f"- {name}"
        if not (goes_on and last is not None):
            self._add(line, "list")
        elif line not in last.text.split("\n"):
            self.blocks[-1] = replace(last, text=f"{last.text}\n{line}")
        self._logos = self.blocks[-1]
        return True

    def _remove_repeated(self, text: str) -> None:
        """Remove the alternative text of a picture that the text or heading below it says too."""
        if (
            self.blocks
            and self.blocks[-1] is self._alternative
            and _begins_with(text, self._alternative.text.removeprefix(PICTURE))
        ):
            self.blocks.pop()

    def _wordless(self, element: _Element) -> bool:
        """Read the label of a link or a picture without text: inside a sentence as its words, else as a
        paragraph if it says something. Return whether nothing else in it is to be read."""
        label = fold(element.get("aria-label") or "")
        if element.tag == "a" and (self._logo(element) or not label):
            return True
        if element.tag == "a" and "".join(self._inline).strip():
            self._inline.append(label)
        elif len(label) >= _TELLING and " " in label and not "".join(self._inline).strip():
            self.flush()
            self._add(label, "text")
        return False


def _name_of_logo(element: _Element) -> tuple[str, bool]:
    """Return the name of a picture, or of the only picture of a link, and whether the page calls it a logo.
    The name is empty for a picture that opens larger and for a name that says nothing."""
    pictures = list(islice(element.iter("img"), 2))
    if len(pictures) != 1 or _PICTURE_FILE.search(element.get("href") or ""):
        return "", False
    alt = fold(pictures[0].get("alt") or element.get("aria-label") or "")
    about = (alt, *(pictures[0].get(key) or "" for key in ("class", "src")))
    name = _SAYS_LOGO.sub("", alt)
    says = 1 < len(name) <= _LONGEST_BOLD and any(map(str.isalpha, name))
    says_nothing = name.casefold() in _NAMELESS or _SLUG.fullmatch(name) or _PICTURE_FILE.search(name)
    return (name if says and not says_nothing else ""), any(map(_LOGO.search, about))


def _cards(element: _Element) -> frozenset[_Element]:
    """Children of one kind that each have a heading: the headings end with them. A short first line called a
    title becomes the heading of a card that has none."""
    if element.tag not in _CARD_PARENTS or len(element) < 2:
        return frozenset()
    kinds: dict[tuple[object, str | None], list[_Element]] = {}
    for child in element:
        if child.tag in _CARDS and (name := child.get("class")):
            kinds.setdefault((child.tag, _NUMBER.sub("", name)), []).append(child)
    found: set[_Element] = set()
    for some in kinds.values():
        if len(some) > 1 and (all(map(_has_heading, some)) or _name_by_titles(some)):
            found.update(some)
    return frozenset(found)


def _has_heading(element: _Element) -> bool:
    return next(element.iter(*HEADINGS), None) is not None


def _name_by_titles(cards: list[_Element]) -> bool:
    """Make headings of the first lines of these cards, if all are called titles and have text below."""
    titles = [card[0] for card in cards if len(card) > 1 and not (card.text or "").strip()]
    if len(titles) < len(cards) or any(map(_has_heading, cards)) or not all(map(_is_title, titles)):
        return False
    for title in titles:
        title.tag = "h6"
    return True


def _is_title(element: _Element) -> bool:
    named = element.tag in ("div", "p", "span", "strong") and _CARD_TITLE.search(element.get("class") or "")
    if not named or next(element.iter("a", "button", "ul"), None) is not None:
        return False
    card = element.getparent()
    length = text_length(element)
    return card is not None and 2 < length <= _LONGEST_BOLD and length < text_length(card)


def _joined_item(blocks: list[Block]) -> list[Block]:
    """The blocks of one list item, with what is under its first line in the same block, indented."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if (
            last is not None
            and (last.kind, last.heading_path, last.language) == ("list", block.heading_path, block.language)
            and block.kind in ("text", "list")
        ):
            lines = "\n".join(f"  {line}" for line in block.text.split("\n"))
            joined[-1] = replace(last, text=f"{last.text}\n{lines}")
        else:
            joined.append(block)
    return joined


def _begins_with(text: str, words: str) -> bool:
    """Return whether a text begins with these words, whatever signs are between them."""
    said = _WORD.findall(words.casefold())
    return _WORD.findall(text[: 2 * len(words)].casefold())[: len(said)] == said


def _is_label(element: _Element) -> bool:
    """Whether this is the title of a note: <p class="title">, or the header of a table used as a note."""
    return element.tag == "th" or (element.tag == "p" and bool(_TITLE.search(element.get("class") or "")))


def _has_one_title(element: _Element) -> bool:
    """Return whether there is at most one heading. The whole text of a page may be in a "voter-info" or an
    "article-info", whose headings have their ranks."""
    return next(islice(element.iter(*HEADINGS), 1, None), None) is None


def _is_bold_heading(element: _Element) -> bool:
    """Return whether all of a paragraph is bold, it reads as a heading, and plain text follows."""
    if not _bold(element):
        return False
    text = fold(plain_text(element))
    below = element.getnext()
    return (
        3 <= len(text) <= _LONGEST_BOLD
        and text[-1] not in ".,;:!。，；：！"
        and text.casefold() not in _LABELS
        and not _FILE_NAME.match(text)
        and next(element.iter("a", "br"), None) is None
        and below is not None
        and below.tag in BLOCK_TAGS
        and below.tag not in HEADINGS
        and text_length(below) > 0
        and not _bold(below)
    )


def _bold(element: _Element) -> bool:
    """Return whether all of an element is in one <strong> or <b>."""
    if len(element) != 1 or (element.text or "").strip() or (element[0].tail or "").strip():
        return False
    return element[0].tag in ("strong", "b")


def begins_with_label(element: _Element) -> bool:
    """Return whether a paragraph begins with a bold line of its own, as <strong>By post</strong><br>."""
    below = element[0].getnext() if len(element) and element[0].tag in ("strong", "b") else None
    return below is not None and below.tag == "br" and not (element.text or element[0].tail or "").strip()


def _says_only_label(element: _Element) -> bool:
    """Return whether all of a paragraph is such as "Note" or "Warning!"."""
    if element.tag not in ("p", "div") or text_length(element) > _LONGEST_LABEL:
        return False
    return _bare_label(fold(plain_text(element))) in _LABELS


def _bare_label(text: str) -> str:
    return text.strip(":!. ").casefold()


def _names_contents(text: str) -> bool:
    return _bare_label(text).replace(" ", "-") in _CONTENTS


def _leads_within_page(element: _Element) -> bool:
    first = next(element.iter("a"), None)
    return first is not None and (first.get("href") or "").startswith("#")


def _without_menus(blocks: list[Block], linkish: set[int]) -> list[Block]:
    """The blocks without menus: lists of links before the first and after the last real text."""
    sizes = {place: len(block.text) for place, block in enumerate(blocks) if place not in linkish}
    if not sizes:
        return []
    least = min(_REAL_TEXT, max(sizes.values()))
    real = [place for place, size in sizes.items() if size >= least]
    return [block for place, block in enumerate(blocks) if place not in linkish or real[0] < place < real[-1]]


def _wrapped_in(element: _Element, definitions: _Element) -> bool:
    """Whether `element` is in a <div> of the list, which HTML allows around a term with its definition."""
    parent = element.getparent()
    return parent is not None and parent.tag == "div" and parent.getparent() is definitions
