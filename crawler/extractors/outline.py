"""The headings above the current place of a walk through a page."""

from collections.abc import Iterator
from contextlib import contextmanager

from lxml.etree import _Element

_ANCHOR_HOLDERS = frozenset({"section", "div", "article", "header", "hgroup", "main", "li", "dl", "span"})
_CLIMB = 5


class Outline:
    """A stack of (level, heading, anchor)."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str, str]] = []
        self._floor = 0
        self.path: tuple[str, ...] = ()
        self.anchor = ""

    def push(self, level: int, heading: str, anchor: str) -> None:
        """Open a section and close those of the same or a deeper level."""
        level = max(level, self._floor + 1)
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, heading, anchor))
        self._refresh()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Keep headings opened inside below those outside, and close them with the block.

        A note under an <h4> may well be titled with an <h3>: it must not close its section.
        """
        stack, floor = list(self._stack), self._floor
        self._floor = self._stack[-1][0] if self._stack else self._floor
        yield
        self._stack, self._floor = stack, floor
        self._refresh()

    def _refresh(self) -> None:
        self.path = tuple(heading for _, heading, _ in self._stack)
        self.anchor = self._stack[-1][2] if self._stack else ""


def anchor_of(heading: _Element) -> str:
    """Id with which a link opens the page at `heading`; empty without one."""
    own = heading.get("id") or _named_inside(heading) or _named_before(heading, "a")
    if own:
        return own
    element = heading
    for _ in range(_CLIMB):
        parent = element.getparent()
        if parent is None or parent.tag not in _ANCHOR_HOLDERS or not _opens(parent, element):
            break
        found = parent.get("id") or _named_before(parent, "a")
        if found:
            return found
        element = parent
    return _named_before(heading, "span")


def _named_inside(element: _Element) -> str:
    for child in element.iter("a", "span", "code"):
        name = child.get("id") or (child.get("name") if child.tag == "a" else None)
        if name:
            return name
    return ""


def _named_before(element: _Element, tag: str) -> str:
    """Name of an empty element before `element`, as in <a name="here"></a><h2>…"""
    previous = element.getprevious()
    if previous is None or previous.tag != tag or (previous.tail or "").strip():
        return ""
    if len(previous) or (previous.text or "").strip():
        return ""
    return previous.get("id") or previous.get("name") or ""


def _opens(parent: _Element, element: _Element) -> bool:
    """Return whether nothing visible comes before `element` in `parent`."""
    if (parent.text or "").strip():
        return False
    for child in parent:
        if child is element:
            return True
        if child.tag not in ("a", "span", "hr") or (child.text or child.tail or "").strip() or len(child):
            return False
    return False
