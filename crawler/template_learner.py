"""Learns the template of a site from its first pages: what recurs on most of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from urllib.parse import urlsplit

from crawler.page import Block, Page
from crawler.template import ANY_LANGUAGE, AT_THE_EDGE, SHORT, Template, fingerprint, units

ENOUGH_PAGES = 24
_FEWEST_PAGES = 5
"""Of one language. Below, "on most pages" says nothing."""
_FEWEST_REPEATS = 4
_MOST_PAGES = 240
_MOST_UNITS = 160
"""Looked at on each half of a page: furniture stands near the edges."""
_MOST_RULES = 400
_TITLE_END = re.compile(r"\s+[|·•»«›‹:—–-]+\s+|\s*[|｜·»]\s*")
_FACT = re.compile(r"\d|\w@\w|[一二三四五六七八九十百]")
_NO_FACT = re.compile(r"©|\(c\)|copyright|cookie|powered by", re.IGNORECASE)
_SAYS_SOMETHING = 25
_WIDE_SAYS_SOMETHING = 10


class TemplateLearner:
    """Keeps fingerprints of the first few hundred pages, not their texts."""

    def __init__(self) -> None:
        self._hashes: set[str] = set()
        self._pages: list[tuple[str, str]] = []
        """(address, language) of each page looked at."""
        self._found: defaultdict[str, list[int]] = defaultdict(list)
        """Fingerprint -> places in `_pages`."""
        self._telling: set[str] = set()
        self._title_ends: Counter[str] = Counter()
        self._headings: Counter[str] = Counter()

    def add(self, page: Page) -> None:
        """Looks at a page as it was extracted, not cleaned. Ignores copies and what exceeds the sample."""
        if page.content_hash in self._hashes or not page.blocks or len(self._pages) >= _MOST_PAGES:
            return
        self._hashes.add(page.content_hash)
        place = len(self._pages)
        self._pages.append((page.url, page.language))
        for found, telling in _fingerprints(page.blocks).items():
            self._found[found].append(place)
            if telling:
                self._telling.add(found)
        separators = list(_TITLE_END.finditer(page.title))
        if separators:
            self._title_ends[page.title[separators[-1].start() :]] += 1
        for heading in {block.heading_path[0] for block in page.blocks if block.heading_path}:
            self._headings[heading] += 1

    @property
    def ready(self) -> bool:
        """Whether enough pages were seen to judge the site by."""
        return len(self._pages) >= ENOUGH_PAGES

    def template(self) -> Template:
        """What recurs on the pages seen; `Template.EMPTY` when they are too few or share nothing."""
        groups: dict[str, list[int]] = {ANY_LANGUAGE: list(range(len(self._pages)))}
        for place, (_, language) in enumerate(self._pages):
            groups.setdefault(language, []).append(place)
        rules = {
            language: shares
            for language, places in groups.items()
            if len(places) >= _FEWEST_PAGES and (shares := self._shares(frozenset(places)))
        }
        total = len(self._pages)
        return Template(
            rules=_without_repeats(rules),
            keepers=self._keepers({found for shares in rules.values() for found in shares}),
            title_ends=tuple(_recurring(self._title_ends, total)),
            headings=frozenset(map(fingerprint, _recurring(self._headings, total))),
        )

    def renewed(self, former: Template) -> Template:
        """The template for the next crawl: the former one while the site still looks like it.

        Languages that the former one does not know are added. When most of its rules for the pages
        seen meet nothing any more, the site was redesigned, and the pages seen decide alone.
        """
        if not self.ready:
            return former
        found = self.template()
        if not former.rules:
            return found
        known = {print_ for shares in former.rules.values() for print_ in shares}
        seen = [shares for language in found.rules if (shares := former.rules.get(language))]
        expected = {print_ for shares in seen for print_ in shares}
        if expected and len(expected & self._found.keys()) * 2 < len(expected):
            return found
        new = {language: shares for language, shares in found.rules.items() if language not in former.rules}
        added = {print_ for shares in new.values() for print_ in shares} - known
        keepers = {
            url: former.keepers.get(url, frozenset()) | (prints & added)
            for url, prints in {**former.keepers, **found.keepers}.items()
        }
        return Template(
            {**former.rules, **new},
            {url: prints for url, prints in keepers.items() if prints},
            former.title_ends,
            former.headings,
        )

    def _shares(self, group: frozenset[int]) -> dict[str, int]:
        least = max(_FEWEST_REPEATS, len(group) * AT_THE_EDGE / 100)
        counts = {
            found: len(group.intersection(places))
            for found, places in self._found.items()
            if len(places) >= least
        }
        common = sorted((-count, found) for found, count in counts.items() if count >= least)
        return {found: -count * 100 // len(group) for count, found in common[:_MOST_RULES]}

    def _keepers(self, rules: Iterable[str]) -> dict[str, frozenset[str]]:
        """Furniture that says something, by the page nearest to the start of the site."""
        keepers: defaultdict[str, set[str]] = defaultdict(set)
        for found in self._telling.intersection(rules):
            urls = [self._pages[place][0] for place in self._found[found]]
            keepers[min(urls, key=_distance)].add(found)
        return {url: frozenset(prints) for url, prints in sorted(keepers.items())}


def _fingerprints(blocks: tuple[Block, ...]) -> dict[str, bool]:
    """Fingerprint -> whether the text says something, for the blocks near both edges."""
    found: dict[str, bool] = {}
    middle = len(blocks) // 2
    for half in (blocks[:middle], blocks[: middle - 1 if middle else None : -1]):
        room = _MOST_UNITS
        for block in half:
            for unit in units(block):
                if block.kind != "code" and room > 0:
                    found[fingerprint(unit)] = _says_something(unit)
                room -= 1
            if room <= 0:
                break
    return found


def _says_something(text: str) -> bool:
    """An address, a telephone number, opening hours, terms: what a visitor may well ask for.

    Such lines hold numbers. Slogans, calls to subscribe and copyright notices are told nowhere.
    """
    least = _SAYS_SOMETHING if text.isascii() else _WIDE_SAYS_SOMETHING
    return len(text) >= least and bool(_FACT.search(text)) and not _NO_FACT.search(text)


def _recurring(counts: Counter[str], total: int) -> list[str]:
    least = max(_FEWEST_PAGES, total * SHORT / 100)
    return sorted(text for text, count in counts.items() if count >= least)


def _distance(url: str) -> tuple[int, int, str]:
    parts = urlsplit(url)
    return parts.path.rstrip("/").count("/") + bool(parts.query), len(url), url


def _without_repeats(rules: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """A language's rule that holds for the whole site with the same share needs no second place."""
    every = rules.get(ANY_LANGUAGE, {})
    return {
        language: {
            found: share
            for found, share in shares.items()
            if language == ANY_LANGUAGE or share > every.get(found, 0)
        }
        for language, shares in rules.items()
    }
