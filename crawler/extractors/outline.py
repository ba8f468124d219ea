"""The headings above the current place of a walk through a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lxml.etree import _Element

_ANCHOR_HOLDERS = frozenset(
    {"section", "div", "article", "header", "hgroup", "main", "li", "dl", "span", "a"}
)
_MAY_BE_EMPTY = frozenset({"a", "span", "hr", "h1", "h2"})
LONGEST_HEADING = 300
"""Characters. What is longer and marked up as a heading is read as text: each chunk repeats its headings."""
_DEEPEST = 12
_CLIMB = 5
_MINOR_LEVEL = 8


@dataclass(slots=True, eq=False)
class _Heading:
    level: int
    text: str
    anchor: str
    is_used: bool = False
    """Whether anything is under it."""
    is_lent: bool = False
    """Whether it is in a block that has ended."""
    is_minor: bool = False


class Outline:
    """A stack of headings. One that is closed with nothing under it is given to `on_unused`, when its parents
    are the path: it may be all that its part of the page says."""

    def __init__(self, on_unused: Callable[[str], None] = lambda heading: None) -> None:
        self._stack: list[_Heading] = []
        self._floor = 0
        self._on_unused = on_unused
        self.path: tuple[str, ...] = ()
        self.anchor = ""

    def push(self, level: int, heading: str, anchor: str) -> None:
        """Open a section and close those of the same or a deeper level. Of a heading that is too long, the
        beginning is kept."""
        level = max(level, self._floor + 1)
        place = next((at for at, one in enumerate(self._stack) if one.level >= level), len(self._stack))
        self._close(min(place, _DEEPEST - 1))
        self._stack.append(_Heading(level, heading[:LONGEST_HEADING], anchor))
        self._refresh()

    def push_minor(self, heading: str, anchor: str) -> None:
        """Open a section below whatever is open, except another minor one."""
        self.end_minor()
        above = self._stack[-1].level if self._stack else 0
        self.push(max(_MINOR_LEVEL, above + 1), heading, anchor)
        self._stack[-1].is_minor = True

    def end_minor(self) -> None:
        """Close the minor heading of this block."""
        minor = (at for at, one in enumerate(self._stack) if one.is_minor and one.level > self._floor)
        self._close(next(minor, len(self._stack)))

    def remove_unused(self) -> None:
        """Remove the last heading if nothing is under it, as if it were not on the page."""
        if self._stack and not self._stack[-1].is_used:
            self._stack.pop()
            self._refresh()

    @property
    def is_bare(self) -> bool:
        """Whether there is a heading and nothing under it yet."""
        return bool(self._stack) and not self._stack[-1].is_used

    def use(self) -> None:
        """Note that there is something under the headings of the path."""
        for heading in self._stack:
            heading.is_used = True

    @contextmanager
    def scope(self, *, lends: bool = False) -> Iterator[None]:
        """Keep headings opened inside below those outside, and close them with the block.

        A note under an <h4> may well be titled with an <h3>: it must not close its section. With `lends` a
        heading that nothing inside is under heads what follows the block.
        """
        outside, floor = len(self._stack), self._floor
        self._floor = self._stack[-1].level if self._stack else self._floor
        yield
        lent = [one for one in self._stack[outside:] if not one.is_used] if lends else []
        if lent:
            del self._stack[outside:]
        self._close(outside)
        self._floor = floor
        for one in lent:
            self.push(one.level, one.text, one.anchor)
            self._stack[-1].is_lent = True

    @contextmanager
    def card(self) -> Iterator[None]:
        """Close the headings opened inside with the block; they may close those outside, as anywhere."""
        before = list(self._stack)
        yield
        self._close(next((at for at, one in enumerate(self._stack) if one not in before), len(self._stack)))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Close the last heading with the block, which opens when somebody clicks the heading."""
        place = len(self._stack) - 1
        yield
        self._close(max(place, 0))

    def end_lent(self) -> None:
        """Close the headings that were lent by the block before."""
        self._close(next((at for at, one in enumerate(self._stack) if one.is_lent), len(self._stack)))

    def end(self) -> None:
        """Close all headings."""
        self._close(0)

    def _close(self, length: int) -> None:
        """Close the headings from this place of the stack on."""
        while len(self._stack) > length:
            closed = self._stack.pop()
            self._refresh()
            if not closed.is_used:
                self._on_unused(closed.text)

    def _refresh(self) -> None:
        self.path = tuple(heading.text for heading in self._stack)
        self.anchor = self._stack[-1].anchor if self._stack else ""


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
        name = parent.get("name") if parent.tag == "a" else None
        found = parent.get("id") or name or _named_before(parent, "a")
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
        if child.tag not in _MAY_BE_EMPTY or (child.text or child.tail or "").strip() or len(child):
            return False
    return False
