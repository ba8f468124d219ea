"""Anchors for headings that have none, so that a link can open a rendered page at each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from crawler.page import Block

_NOT_IN_ID = re.compile(r"[^\w-]+")
_LONGEST = 60


def anchored(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The same blocks; those under a heading without an anchor get one made of its words."""
    taken = {block.anchor for block in blocks if block.anchor}
    made: dict[tuple[str, ...], str] = {}
    found = []
    for block in blocks:
        if block.heading_path and not block.anchor:
            anchor = made.get(block.heading_path)
            if anchor is None:
                anchor = made[block.heading_path] = _new(block.heading_path[-1], taken)
                taken.add(anchor)
            block = replace(block, anchor=anchor)
        found.append(block)
    return tuple(found)


def _new(heading: str, taken: set[str]) -> str:
    base = _NOT_IN_ID.sub("-", heading.lower()).strip("-")[:_LONGEST] or "section"
    number, anchor = 1, base
    while anchor in taken:
        number += 1
        anchor = f"{base}-{number}"
    return anchor
