"""Finds the context that a quoted unit needs: its list, introduction, example or the sentence before."""

from collections.abc import Sequence

from server.answering.understanding.discourse import introduces, is_label, refers_back
from server.answering.writing.units import Unit, UnitKind

SHORT_LIST = 350
"""Lists and tables up to this many characters are quoted whole; of longer ones, only the chosen units."""
MOST_BEFORE = 2
"""Maximum number of sentences added before one that refers back to them."""


def quote_context(found: Sequence[Unit], position: int, most: int) -> list[int]:
    """Return the positions of the unit and its context, in order.

    Together they have at most `most` characters, unless the unit alone has more. Steps form one list of any
    length.
    """
    first = last = position
    unit = found[position]
    if unit.kind in (UnitKind.STEP, UnitKind.ROW, UnitKind.ITEM):
        first, last = _run(found, position, whole=unit.kind is UnitKind.STEP)
    if unit.kind is UnitKind.SENTENCE:
        first = _first_of_context(found, position)
    elif first and _introduced(found, first, unit.kind):
        first -= 1
    if introduces(found[last].text) and last + 1 < len(found):
        _, last = _run(found, last + 1, whole=True)
    return _within(found, first, last, position, most)


def _introduced(found: Sequence[Unit], first: int, kind: UnitKind) -> bool:
    """Return whether the previous unit introduces this one. Any sentence that is no label introduces code."""
    before = found[first - 1]
    if before.kind is not UnitKind.SENTENCE:
        return False
    return introduces(before.text) or (kind is UnitKind.CODE and not is_label(before.quote))


def _first_of_context(found: Sequence[Unit], position: int) -> int:
    first = position
    for _ in range(MOST_BEFORE):
        before = found[first - 1] if first else None
        if not before or not _continues(found[first], before):
            break
        first -= 1
    if first != position and first and found[first].kind is UnitKind.CODE:
        first -= introduces(found[first - 1].text)
    return first


def _continues(unit: Unit, before: Unit) -> bool:
    """Return whether a sentence continues the sentence or code before it."""
    if before.kind is UnitKind.CODE:
        return unit.quote[:1].islower() or refers_back(unit.quote)
    same = before.kind is UnitKind.SENTENCE and before.block == unit.block
    return same and refers_back(unit.quote)


def _run(found: Sequence[Unit], position: int, *, whole: bool) -> tuple[int, int]:
    """Return the first and last position of the list or table at `position`, if it is short or `whole`."""
    unit = found[position]
    if unit.kind is UnitKind.SENTENCE or unit.kind is UnitKind.CODE:
        return position, position
    first = last = position
    while first and found[first - 1].block == unit.block and found[first - 1].kind is not UnitKind.SENTENCE:
        first -= 1
    while last + 1 < len(found) and found[last + 1].block == unit.block:
        last += 1
    size = sum(len(found[n].text) for n in range(first, last + 1))
    return (first, last) if whole or size <= SHORT_LIST else (position, position)


def _within(found: Sequence[Unit], first: int, last: int, position: int, most: int) -> list[int]:
    """Return as many positions around `position` as fit, first those before it, then those after it."""
    size = len(found[position].text)
    start = position
    while start > first and size + len(found[start - 1].text) <= most:
        start -= 1
        size += len(found[start].text)
    end = position
    while end < last and size + len(found[end + 1].text) <= most:
        end += 1
        size += len(found[end].text)
    return list(range(start, end + 1))
