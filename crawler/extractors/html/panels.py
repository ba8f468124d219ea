"""Tabs and folded sections: what opens them, and the name under which a reader finds their text.

A panel that is closed when the page loads is hidden like a menu or a dialogue is. It is content when
something on the page opens it and it holds more than links. The text of its tab or button becomes the
heading over it, and is not read a second time at the button.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import cast

from lxml.etree import XPath, _Element

from crawler.extractors.text import BLOCK_TAGS, HEADINGS, fold, plain_text, text_length
from crawler.wordset import wordset

_OPENERS = {
    "aria-controls": XPath(".//*[@aria-controls]"),
    "data-bs-target": XPath(".//*[@data-bs-target]"),
    "data-target": XPath(".//*[@data-target]"),
    "data-toggle": XPath(".//*[@data-toggle='tab' or @data-toggle='collapse']"),
    "data-bs-toggle": XPath(".//*[@data-bs-toggle='tab' or @data-bs-toggle='collapse']"),
    "aria-labelledby": XPath(".//*[@role='tab']"),
}
"""XPath of each kind of opener, by a word in the markup of pages that have it: most pages need no search."""
_BY_ID = XPath("id($name)")
_LABELLED_BY = XPath("//*[@aria-labelledby=$name]")
_NOT_OPENED = wordset("panels.not_opened")
_MENUS = re.compile(
    r"(?:^|[\s_-])(?:nav\w*|menus?|modal|drawer|cart|basket|search|cookies?|dropdown|lightbox|offcanvas)(?:$|[\s_-])"
)
_NO_OPENERS = wordset("panels.no_openers")
_MENU_ROLES = wordset("panels.menu_roles")
_FOLDS = re.compile(r"accord|collaps|toggle|faq|question|expand|fold", re.IGNORECASE)
_FOLDED = re.compile(r"(?:^|[\s_-])(?:panel|content|answer|collapse)(?:$|[\s_-])", re.IGNORECASE)
_WEBFLOW = "w-dropdown-list"
_LEAST_TEXT = 12
_LONGEST_LABEL = 200


def find_panels(body: _Element, markup: str) -> Mapping[_Element, str]:
    """Panels below `body` with their labels, "" where a heading of the page names the panel already.

    `markup` is the page that the tree was made from.
    Changes the tree: buttons in headings become plain text, openers of panels go.
    """
    panels: dict[_Element, str] = {}
    if _WEBFLOW in markup:
        _take_dropdowns(panels, body)
    for heading in list(body.iter("button")):
        parent = heading.getparent()
        if parent is not None and parent.tag in HEADINGS:
            panels.update(_named(_next_block(parent), ""))
            heading.tag = "span"
    _take_hidden_answers(panels, body)
    for word, find in _OPENERS.items():
        if word in markup:
            for opener in cast(list[_Element], find(body)):
                _take(panels, opener, _target(opener))
    for button in list(body.iter("button")):
        if _FOLDS.search(f"{button.get('class') or ''} {'expand' if button.get('aria-expanded') else ''}"):
            _take(panels, button, button.getnext())
        else:
            _take(panels, button, _next_block(button))
    return panels


def _take_dropdowns(panels: dict[_Element, str], body: _Element) -> None:
    """Add the answers that Webflow puts into the <nav> of a dropdown, as it does with the links of a menu."""
    for panel in list(body.iter("nav")):
        opener = panel.getprevious()
        if opener is None or _WEBFLOW not in (panel.get("class") or "") or not _is_text(panel):
            continue
        label = fold(plain_text(opener))
        if 0 < len(label) <= _LONGEST_LABEL:
            panels[panel] = label
            panel.tag, opener.tag = "div", "button"


def _take_hidden_answers(panels: dict[_Element, str], body: _Element) -> None:
    """Add the hidden elements after headings and questions, which scripts open without any mark of it."""
    for heading in body.iter(*HEADINGS):
        panels.update(_named(_next_block(heading), ""))
    for opener in list(body.iter("div", "p")):
        if _FOLDS.search(opener.get("class") or ""):
            hidden = _next_block(opener)
            _take(panels, opener, _next_panel(opener) if hidden is None else hidden)


def _take(panels: dict[_Element, str], opener: _Element, panel: _Element | None) -> None:
    if panel is None or panel in panels or opener in panel.iterdescendants(opener.tag):
        return
    near = (opener, *islice(opener.iterancestors(), 2))
    in_heading = any(element.tag in HEADINGS for element in near)
    label = "" if in_heading else fold(plain_text(opener))
    if len(label) > _LONGEST_LABEL or not (label or in_heading):
        return
    found = _named(panel, label)
    panels.update(found)
    if found and not in_heading:
        opener.tag = "button"  # read once, as the heading of the panel


def _named(panel: _Element | None, label: str) -> dict[_Element, str]:
    if panel is None or panel.tag in _NOT_OPENED or panel.get("role") in _MENU_ROLES:
        return {}
    names = f"{panel.get('class') or ''} {panel.get('id') or ''}".lower()
    if _MENUS.search(names) and "accordion" not in names:
        return {}
    return {panel: label} if _is_text(panel) else {}


def _is_text(panel: _Element) -> bool:
    """Return whether the panel holds more than links."""
    length = text_length(panel)
    linked = sum(text_length(link) for link in panel.iter("a"))
    return length >= _LEAST_TEXT and linked * 2 <= length


def _target(opener: _Element) -> _Element | None:
    if opener.tag in _NO_OPENERS:
        return None
    for name in ("aria-controls", "data-bs-target", "data-target", "href"):
        value = (opener.get(name) or "").strip()
        if value and (name == "aria-controls" or value.startswith("#")):
            found = cast(list[_Element], _BY_ID(opener, name=value.removeprefix("#")))
            if found:
                return found[0]
    own = opener.get("id") if opener.get("role") == "tab" else None
    found = cast(list[_Element], _LABELLED_BY(opener, name=own)) if own else []
    return found[0] if found else None


def _next_panel(opener: _Element) -> _Element | None:
    """The element after an opener of nothing but words, if its class says that it folds: a style hides it."""
    panel = opener.getnext()
    folds = panel is not None and panel.tag == "div" and _FOLDED.search(panel.get("class") or "")
    return panel if folds and next(opener.iter(*(BLOCK_TAGS - {opener.tag})), None) is None else None


def _next_block(heading: _Element) -> _Element | None:
    """The element that a heading or the like opens: its next sibling, if that is hidden."""
    panel = heading.getnext()
    hidden = panel is not None and (panel.get("hidden") is not None or "none" in (panel.get("style") or ""))
    return panel if hidden else None
