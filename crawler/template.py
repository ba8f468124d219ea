"""What stands on most pages of a site: menus, banners and footers that no markup gives away.

A template is a set of rules, one for each paragraph, table or line of a list that recurs, with the
share of pages that it stands on. It is applied with care, since losing content is worse than keeping
a menu:

- at the top and the bottom of a page, what stands on half of the pages goes; short lines, which may
  well be a fact such as "In stock", go when they stand on nearly all;
- between a page's own blocks only what is long, and on most pages, goes;
- code stays, and so does a table unless all of it recurs (the header row of a price list does);
- what says something (the opening hours in a footer) stays on one page, the one nearest to the
  site's start, so that nothing is lost of the site as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import ClassVar

from crawler.page import Block, Page, content_hash

AT_THE_EDGE = 50
"""Percentages of pages from which on a recurring text is furniture: at the top or bottom of a page, ..."""
IN_THE_MIDST = 70
SHORT = 80
_SHORT_CHARACTERS = 30
_MOST_LINES = 200
_VERSION = 1
_MARKER = re.compile(r"(?:-|\d+\.) ")

ANY_LANGUAGE = "*"


@dataclass(frozen=True, slots=True)
class Template:
    """The furniture of one site. Immutable; equal input gives equal output."""

    EMPTY: ClassVar[Template]

    rules: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    """Language, or ANY_LANGUAGE -> fingerprint -> per cent of the language's pages that it stands on."""
    keepers: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Address -> fingerprints of furniture that stays on that page."""
    title_ends: tuple[str, ...] = ()
    """What most titles end with, separator and all."""
    headings: frozenset[str] = frozenset()
    """Fingerprints of top headings that stand over nearly all pages: the name of the site."""

    def clean(self, page: Page) -> Page:
        """`page` without what the rules name. A page that holds nothing else may end up empty."""
        title = self._own_title(page.title)
        shares = self._shares(page.language)
        blocks = page.blocks
        if shares:
            blocks = tuple(_Cleaning(shares, self.keepers.get(page.url, frozenset())).of(blocks))
        if self.headings:
            blocks = tuple(map(self._below_own_heading, blocks))
        if title == page.title and blocks == page.blocks:
            return page
        return replace(page, title=title, blocks=blocks, content_hash=content_hash(title, blocks))

    def to_json(self) -> str:
        """Text that `from_json` reads: some kilobytes."""
        return json.dumps(
            {
                "version": _VERSION,
                "rules": {language: dict(shares) for language, shares in self.rules.items()},
                "keepers": {url: sorted(prints) for url, prints in self.keepers.items()},
                "title_ends": self.title_ends,
                "headings": sorted(self.headings),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Template:
        """EMPTY for empty text and for what another version wrote; ValueError for what is no template."""
        stored = json.loads(text) if text else {}
        if not isinstance(stored, dict):
            raise ValueError("a template is a JSON object")
        if stored.get("version") != _VERSION:
            return cls.EMPTY
        try:
            return cls(
                rules={language: dict(shares) for language, shares in stored["rules"].items()},
                keepers={url: frozenset(prints) for url, prints in stored["keepers"].items()},
                title_ends=tuple(stored["title_ends"]),
                headings=frozenset(stored["headings"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a template: {error!r}") from error

    def _own_title(self, title: str) -> str:
        for end in self.title_ends:
            if title.endswith(end) and len(title) > len(end):
                return title[: -len(end)]
        return title

    def _shares(self, language: str) -> Mapping[str, int]:
        own, every = self.rules.get(language, {}), self.rules.get(ANY_LANGUAGE, {})
        if not own or not every:
            return own or every
        return {**own, **{key: max(share, own.get(key, 0)) for key, share in every.items()}}

    def _below_own_heading(self, block: Block) -> Block:
        path = block.heading_path
        if path and fingerprint(path[0]) in self.headings:
            return replace(block, heading_path=path[1:], anchor=block.anchor if len(path) > 1 else "")
        return block


Template.EMPTY = Template()


class _Cleaning:
    """The rules, applied to one page."""

    def __init__(self, shares: Mapping[str, int], kept: frozenset[str]) -> None:
        self._shares = shares
        self._kept = kept

    def of(self, blocks: tuple[Block, ...]) -> Iterable[Block]:
        known = [self._least_share(block) for block in blocks]
        top = _run(known)
        bottom = _run(list(reversed(known[top:])))
        end = len(blocks) - bottom
        seen_below = {block.text for block in blocks[end:]}
        for place, block in enumerate(blocks):
            if not known[place]:
                yield block
            elif top <= place < end:
                if block.text in seen_below or not self._goes_from_the_midst(block, known[place]):
                    yield block  # the licence that is explained here stands in the footer too
            elif left := self._without_furniture(block):
                yield left

    def _least_share(self, block: Block) -> int:
        """The smallest share among its recurring lines; 0 when it is content, wholly or mostly."""
        if block.kind == "code":
            return 0
        shares = [self._shares.get(fingerprint(unit), 0) for unit in units(block)]
        known = [share for share in shares if share]
        return min(known) if known and len(known) * 2 > len(shares) else 0

    def _goes_from_the_midst(self, block: Block, share: int) -> bool:
        prints = [fingerprint(unit) for unit in units(block)]
        long = all(len(unit) >= _SHORT_CHARACTERS for unit in units(block))
        whole = all(self._shares.get(found) for found in prints)
        return share >= IN_THE_MIDST and long and whole and not self._kept.intersection(prints)

    def _without_furniture(self, block: Block) -> Block | None:
        """What is left of a block at the edge of a page; None when nothing is."""
        if block.kind != "list":
            return block if self._stays(block.text) else None
        lines = [line for line in block.text.split("\n") if self._stays(_bare(line), in_list=True)]
        if len(lines) == block.text.count("\n") + 1:
            return block
        return replace(block, text="\n".join(lines)) if lines else None

    def _stays(self, unit: str, *, in_list: bool = False) -> bool:
        found = fingerprint(unit)
        # A line of a list goes with its neighbours: most of them recur too.
        least = SHORT if len(unit) < _SHORT_CHARACTERS and not in_list else AT_THE_EDGE
        return found in self._kept or self._shares.get(found, 0) < least


def _run(known: list[int]) -> int:
    """How many blocks in a row recur, from the first on."""
    return next((place for place, share in enumerate(known) if not share), len(known))


def units(block: Block) -> Iterable[str]:
    """What is compared of a block: each line of a list, else the whole. Nothing of a very long one."""
    if block.kind == "list":
        lines = block.text.split("\n")
        return map(_bare, lines if len(lines) <= _MOST_LINES else ())
    return iter((block.text,))


def _bare(line: str) -> str:
    text = line.strip()
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def fingerprint(text: str) -> str:
    """12 characters for any text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
